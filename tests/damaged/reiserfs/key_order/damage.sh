# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit head 5 1 8 4 +100000
