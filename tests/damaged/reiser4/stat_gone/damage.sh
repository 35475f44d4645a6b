# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit findhead 0 3 36 2 8
