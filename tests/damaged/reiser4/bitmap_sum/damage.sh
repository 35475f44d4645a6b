# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit block 18 0 4 +1
