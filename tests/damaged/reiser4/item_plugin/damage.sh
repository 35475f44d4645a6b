# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit findhead 6 2 36 2 77
