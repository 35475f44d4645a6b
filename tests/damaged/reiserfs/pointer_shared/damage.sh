# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit body 6 1 4 4 +1
