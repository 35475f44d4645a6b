# SPDX-License-Identifier: GPL-2.0-only
bit 6000 1
