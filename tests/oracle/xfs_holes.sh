#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Property: wherever map says free, a hole or any byte may be put: xfs_repair stays content and no file changes.
. "$(dirname "$0")/lib.sh"
need python3 xfs_repair mkfs.xfs sha256sum

digest() { # IMAGE: of all that extract says
	(set -o pipefail; "$FSASSAY" extract "$1" 2>"$TMP/extract.err" | sha256sum)
}

holes() { # NAME POPULATE-OPTION...
	local name=$1 before way out after
	shift
	make_image "$name" --fs xfs --collection mixed --files 30 --size 320M "$@" || return
	before=$(digest "$TMP/$name.img") || { result "$name extract" "$(tail -n 3 "$TMP/extract.err")"; return; }
	for way in hole fill; do
		cp --sparse=always "$TMP/$name.img" "$TMP/copy.img"
		if ! out=$(python3 "$TOP/tests/oracle/punch.py" $way "$TMP/copy.img" 2>&1); then
			result "$name $way" "$out"
			continue
		fi
		if out=$(xfs_repair -n "$TMP/copy.img" 2>&1); then out=; else out=$(printf %s "$out" | tail -n 5); fi
		after=$(digest "$TMP/copy.img")
		[ "$before" = "$after" ] || out="$out the archive is another"
		"$FSASSAY" audit "$TMP/copy.img" >/dev/null 2>&1 || out="$out audit finds something"
		result "$name $way" "$out"
	done
	rm -f "$TMP/copy.img"
	drop_image "$name"
}

holes default
holes rmapbt --mkfs-options "-m rmapbt=1"
holes block-1k --block-size 1024 --mkfs-options "-m rmapbt=1 -n size=8k"
if command -v linux.uml >/dev/null; then
	ENGINE=uml holes v4-512 --block-size 512 --mkfs-options "-m crc=0 -n ftype=0"
else
	echo "skip v4-512: no kernel here mounts version 4, user-mode Linux is not installed"
fi
