# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit block 21 16 8 3
