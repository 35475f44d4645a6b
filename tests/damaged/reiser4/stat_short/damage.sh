# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit find 0 3 0 2 0x83
