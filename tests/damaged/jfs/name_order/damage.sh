# SPDX-License-Identifier: GPL-2.0-only
at=$(entry_at "file 77 "); poke $((at + 6)) 67
