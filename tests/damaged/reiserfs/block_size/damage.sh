# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit super 44 2 1000
