# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit head 1 4 32 2 40
