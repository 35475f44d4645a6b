# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit head 3 2 18 2 +8
