#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# seeds_ext.sh DIR: small ext images of different layouts, half of them without checksums.
set -u
dir=$1
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree/dir/sub" "$tree/many"
head -c 300 /dev/zero | tr '\0' a >"$tree/dir/file"
head -c 70 /dev/zero | tr '\0' b >"$tree/dir/sub/small"
ln "$tree/dir/file" "$tree/dir/link"
ln -s target "$tree/short"
ln -s "$(head -c 100 /dev/zero | tr '\0' c)" "$tree/long"
mkfifo "$tree/fifo"
for i in $(seq 40); do : >"$tree/many/entry-number-$i"; done
# Data, a hole, data: more extents than an inode holds, and all three levels of indirect blocks.
for i in 0 3 7 11 20 40 400 70000; do
	printf x | dd of="$tree/pieces" bs=1024 seek="$i" conv=notrunc status=none
done
seed() { # NAME SIZE MKE2FS-OPTION...
	local name=$1 size=$2
	shift 2
	truncate -s "$size" "$dir/$name"
	mke2fs -q -F -b 1024 -N 80 -d "$tree" "$@" "$dir/$name" >/dev/null 2>&1 || { echo "seeds_ext.sh: $name cannot be made" >&2; rm -f "$dir/$name"; return; }
	printf '%s\n' 'ea_set dir/file user.one value' 'ea_set dir/sub/small user.two second' "ea_set -f $tree/dir/file dir user.three" |
		debugfs -w -f - "$dir/$name" >/dev/null 2>&1
}
seed ext2 256K -t ext2
seed ext2-plain 256K -t ext2 -O ^resize_inode,^dir_index,^ext_attr -I 128
seed revision0 256K -t ext2 -r 0
seed ext4 256K -t ext4 -O ^has_journal
seed ext4-nocsum 256K -t ext4 -O ^has_journal,^metadata_csum
seed ext4-small 128K -t ext4 -O ^has_journal,^metadata_csum,^64bit,^flex_bg,^resize_inode -I 128
seed inline 256K -t ext4 -O ^has_journal,inline_data,^metadata_csum
seed inline-csum 256K -t ext4 -O ^has_journal,inline_data
seed bigalloc 512K -t ext4 -O ^has_journal,bigalloc,^metadata_csum -C 4096
seed meta_bg 512K -t ext4 -O ^has_journal,meta_bg,^resize_inode,^metadata_csum -g 256
seed ea_inode 256K -t ext4 -O ^has_journal,ea_inode,large_dir,^metadata_csum
seed groups 512K -t ext4 -O ^has_journal,uninit_bg,^metadata_csum,sparse_super2,^resize_inode -g 256
seed quota 256K -t ext4 -O ^has_journal,quota,project,mmp,^metadata_csum
seed journal 512K -t ext4 -O ^metadata_csum,orphan_file,^resize_inode -J size=1 -b 1024
# A journal needs 1 MiB at least: a device of its own, whose blocks that count are the first.
truncate -s 2M "$work/journal"
mke2fs -q -F -b 1024 -O journal_dev "$work/journal" 1024 >/dev/null 2>&1 && head -c 64K "$work/journal" >"$dir/journal_dev"
