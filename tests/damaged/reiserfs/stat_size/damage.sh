# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit head 4 0 18 2 40
