#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Layouts of btrfs on one device, filled by a real kernel with the mixed collection: ledger, df, st_blocks and the extracted
# tree are what the kernel says, and btrfs check agrees that nothing is wrong.
# Run as `tests/oracle/btrfs.sh NAME...` it takes only those layouts; FSA_LONG=1 takes all.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.btrfs btrfs tar
chosen=" $* "
# df of a read-only mount follows Linux 6.1, which is what user-mode Linux brings; newer kernels leave out unallocated space.
if command -v linux.uml >/dev/null; then
	export ENGINE=uml
else
	export CHECKS=audit,ls,payload,figures,map,extract
	echo "skip df: user-mode Linux is not installed, and the running kernel may be newer than the formulas"
fi

# layout NAME POPULATE-OPTION...: mounted with `mount` in front (noatime: reading the tree for st_blocks after df must not write).
layout() {
	local name=$1
	shift
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	make_image "$name" --fs btrfs --collection mixed --files "${files:-60}" --size "${size:-200M}" --mount-options "noatime${mount:+,$mount}" "$@" || return
	result "$name btrfs check" "$(btrfs check --readonly "$TMP/$name.img" >"$TMP/check.log" 2>&1 || tail -n 3 "$TMP/check.log")"
	check_image "$name"
	result "$name tree-stats" "$(python3 "$TOP/tests/oracle/btrfs_trees.py" "$TMP/$name.img" 2>&1)"
	drop_image "$name"
}

layout default
mount=compress-force=zstd layout single-zstd --mkfs-options "-m single"
layout mixed-groups --mkfs-options "--mixed"
layout nodes-64k --mkfs-options "-n 65536 --csum xxhash"

[ -n "${FSA_LONG:-}" ] || [ "$chosen" != "  " ] || exit 0
layout nodes-4k --mkfs-options "-n 4096"
size=320M layout dup-data --mkfs-options "-d dup -m dup"
mount=compress-force=zlib layout sha256-zlib --mkfs-options "--csum sha256"
mount=compress-force=lzo layout blake2-lzo --mkfs-options "--csum blake2"
mount=max_inline=0 layout no-inline
mount=nodatasum layout nodatasum
mount=space_cache=v1 layout space-cache-v1 --mkfs-options "-R ^free-space-tree"
layout holes --mkfs-options "-O ^no-holes"
