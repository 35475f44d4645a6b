# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit find 0 3 36 8 +512
