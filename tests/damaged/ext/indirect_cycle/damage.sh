# SPDX-License-Identifier: GPL-2.0-only
# base: ext2
set -- $(debugfs -R 'stat <16>' "$IMAGE" 2>/dev/null | grep -o '(D\?IND):[0-9]*' | cut -d: -f2)
poke $(($1 * 1024 + 48)) "$(printf '%02x%02x0000' $(($1 & 255)) $(($1 >> 8)))"
poke $(($2 * 1024)) "$(printf '%02x%02x0000' $(($2 & 255)) $(($2 >> 8)))"
