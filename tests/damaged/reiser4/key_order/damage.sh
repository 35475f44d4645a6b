# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit head 1 5 8 8 1
