#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Property: wherever map says free, a hole or any byte may be put: e2fsck stays content and no file changes.
. "$(dirname "$0")/lib.sh"
need python3 e2fsck mke2fs sha256sum

digest() { # IMAGE: of all that extract says
	"$FSASSAY" extract "$1" 2>/dev/null | sha256sum
}

holes() { # NAME POPULATE-OPTION...
	local name=$1 before way out after
	shift
	make_image "$name" --collection mixed --files 30 "$@" || return
	before=$(digest "$TMP/$name.img")
	for way in hole fill; do
		cp --sparse=always "$TMP/$name.img" "$TMP/copy.img"
		if ! out=$(python3 "$TOP/tests/oracle/punch.py" $way "$TMP/copy.img" 2>&1); then
			result "$name $way" "$out"
			continue
		fi
		if out=$(e2fsck -fn "$TMP/copy.img" 2>&1) && ! printf %s "$out" | grep -q '? no'; then out=; fi
		after=$(digest "$TMP/copy.img")
		[ "$before" = "$after" ] || out="$out the archive is another"
		"$FSASSAY" audit "$TMP/copy.img" >/dev/null 2>&1 || out="$out audit finds something"
		result "$name $way" "$out"
	done
	rm -f "$TMP/copy.img"
	drop_image "$name"
}

holes ext2 --fs ext2 --block-size 1024
holes ext3 --fs ext3 --block-size 4096
holes ext4 --fs ext4
holes inline --fs ext4 -O inline_data
holes bigalloc --fs ext4 -O bigalloc --block-size 4096 --size 256M
holes meta_bg --fs ext4 -O meta_bg,^resize_inode
holes sparse_super2 --fs ext4 -O sparse_super2,^resize_inode
holes ea_inode --fs ext4 -O ea_inode,large_dir
holes rare --fs ext4 -O mmp,orphan_file,fast_commit
holes uninit --fs ext4 -O ^metadata_csum,uninit_bg --size 200M
