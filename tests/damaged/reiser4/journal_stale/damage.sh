# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit block 19 0 8 55
