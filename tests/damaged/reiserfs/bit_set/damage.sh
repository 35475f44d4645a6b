# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit bit 1020
