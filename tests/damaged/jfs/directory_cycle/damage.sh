# SPDX-License-Identifier: GPL-2.0-only
poke32 $(entry_at deep) $(number_of /dir)
