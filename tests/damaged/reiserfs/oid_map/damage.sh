# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit super 208 4 10
