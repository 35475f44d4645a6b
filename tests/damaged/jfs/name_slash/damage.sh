# SPDX-License-Identifier: GPL-2.0-only
poke $(($(entry_at other) + 6 + 4)) 2f
