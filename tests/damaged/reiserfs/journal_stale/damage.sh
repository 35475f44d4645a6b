# SPDX-License-Identifier: GPL-2.0-only
# base: pending
edit super 28 4 1
