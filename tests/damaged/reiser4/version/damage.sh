# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit block 17 80 4 9
