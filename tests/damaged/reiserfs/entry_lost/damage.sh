# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit body 2 3 40 4 9999
