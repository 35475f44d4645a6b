# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit body 0 1 0 8 0x7fffffffffff
