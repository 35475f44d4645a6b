# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit node 2 26 1 2
