# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit node 2 4 2 +40
