# SPDX-License-Identifier: GPL-2.0-only
at=$(first_block /frag); poke32 $((at * 4096 + 32 + 16 + 4)) 1
