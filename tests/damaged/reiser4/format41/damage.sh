# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit block 16 16 2 1
