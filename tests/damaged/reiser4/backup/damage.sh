# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit block 22 61 8 0
