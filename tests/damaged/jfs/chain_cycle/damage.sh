# SPDX-License-Identifier: GPL-2.0-only
at=$(entry_at "file 77 "); poke $((at + 4)) $(printf %02x $((at % 4096 / 32)))
