# SPDX-License-Identifier: GPL-2.0-only
# base: base
edit child 0 1 self
