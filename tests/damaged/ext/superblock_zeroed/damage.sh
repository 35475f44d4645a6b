# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
poke 1024 "$(printf %02048d 0)"
