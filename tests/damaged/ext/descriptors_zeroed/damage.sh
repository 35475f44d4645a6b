# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
poke 2048 "$(printf %02048d 0)"
