# SPDX-License-Identifier: GPL-2.0-only
# base: ext4
block=$(debugfs -R 'stat attr1' "$IMAGE" 2>/dev/null | sed -n 's/^File ACL: //p')
poke $((block * 1024 + 16)) 11223344
