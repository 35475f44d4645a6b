#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 900
# Readback of what is not ext: a tar in any order is what extract writes, and a dump of a filesystem that never had one
# is taken by restore(8) and gives the tree again.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/readback_lib.sh"
need python3 restore xxhsum
chosen=" $* "

layout() { # NAME TYPE POPULATE-OPTION...
	local name=$1 type=$2
	shift 2
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	command -v "mkfs.$type" >/dev/null || { echo "skip $name: no mkfs.$type"; return; }
	make_image "$name" --fs "$type" --collection mixed --files 30 "$@" || return
	PASSES=tar same_digests "$name"
	restores "$name"
	compares "$name" "$type"
	rm -rf "$TMP/$name.work"
	drop_image "$name"
}

layout xfs xfs
layout btrfs btrfs
layout btrfs-zstd btrfs --mount-options compress-force=zstd
layout reiserfs reiserfs
layout jfs jfs
# Compressed clusters, the default, hold zeros where the source has holes.
ENGINE=lib layout reiser4 reiser4 --size 200M --mkfs-options "-o create=reg40"
