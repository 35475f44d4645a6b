# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit super 20 4 5000
