# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit node 3 2 2 60000
