# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit find 0 1 8 8 +1
