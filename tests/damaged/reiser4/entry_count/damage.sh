# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit find 2 1 0 2 9999
