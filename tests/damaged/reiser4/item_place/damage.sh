# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit head 1 3 32 2 4095
