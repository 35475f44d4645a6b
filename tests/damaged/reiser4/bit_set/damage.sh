# SPDX-License-Identifier: GPL-2.0-only
# base: tails
edit bit 60
