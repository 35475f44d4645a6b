# SPDX-License-Identifier: GPL-2.0-only
poke32 $(entry_at small) 3000
