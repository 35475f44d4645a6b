# SPDX-License-Identifier: GPL-2.0-only
at=$(first_block /frag); poke $((at * 4096 + 18)) ffff
