# SPDX-License-Identifier: GPL-2.0-only
bit $(first_block /small) 0
