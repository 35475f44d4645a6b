#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 900
# Readback of ext: orders of reading, dumps that restore(8) takes, and what dump(8) makes of the same image.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/readback_lib.sh"
need python3 mke2fs restore dump xxhsum
chosen=" $* "

# listed FILE: what restore -t says, without the head.
listed() { restore -t -f "$1" 2>/dev/null | grep -a '^ *[0-9]' | sort; }

# same_inodes NAME: dump(8) finds the same inodes under the same names.
same_inodes() {
	local image=$TMP/$1.img device
	[ "$(id -u)" = 0 ] && device=$(losetup -rf --show "$image" 2>/dev/null) || { echo "skip $1 dump(8): no loop device"; return; }
	dump -0 -f "$TMP/theirs" "$device" >"$TMP/dump.log" 2>&1 || { result "$1 dump(8)" "$(tail -n 3 "$TMP/dump.log")"; losetup -d "$device"; return; }
	losetup -d "$device"
	"$FSASSAY" extract --dump "$image" 2>/dev/null >"$TMP/ours"
	listed "$TMP/theirs" >"$TMP/theirs.list"
	listed "$TMP/ours" >"$TMP/ours.list"
	result "$1 inodes of dump(8)" "$([ -s "$TMP/ours.list" ] && diff "$TMP/theirs.list" "$TMP/ours.list" | cut -c 1-200 | head -n 5)"
	rm -f "$TMP/theirs" "$TMP/ours"
}

layout() { # NAME POPULATE-OPTION...
	local name=$1
	shift
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	make_image "$name" --collection "${collection:-mixed}" --files 30 "$@" || return
	PASSES=${passes:-tar} same_digests "$name"
	restores "$name"
	compares "$name" ext4
	[ -z "${dump8:-}" ] || same_inodes "$name"
	rm -rf "$TMP/$name.work"
	drop_image "$name"
}

layout ext2 --fs ext2 --block-size 1024
# dump(8) knows no inline data. It writes all holes, so the sparse files of `mixed` take it minutes.
dump8=1 passes="tar dump" collection=size-10K layout ext4-files --fs ext4
layout ext4 --fs ext4
layout inline --fs ext4 -O inline_data
layout ea_inode --fs ext4 -O ea_inode,large_dir
