# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit super 72 2 7
