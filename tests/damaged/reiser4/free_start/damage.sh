# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit node 2 6 2 5000
