#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Property: wherever map says free, a hole or any byte may be put: jfs_fsck stays content and no file changes.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/jfs_fill_lib.sh"
need python3 jfs_fsck mkfs.jfs linux.uml sha256sum

digest() { # IMAGE: of all that extract says
	"$FSASSAY" extract "$1" 2>/dev/null | sha256sum
}

holes() { # NAME POPULATE-OPTION...
	local name=$1 before way out after
	shift
	ENGINE=uml make_image "$name" --fs jfs --collection mixed --files 30 "$@" || return
	before=$(digest "$TMP/$name.img")
	for way in hole fill; do
		cp --sparse=always "$TMP/$name.img" "$TMP/copy.img"
		if ! out=$(python3 "$TOP/tests/oracle/punch.py" $way "$TMP/copy.img" 2>&1); then
			result "$name $way" "$out"
			continue
		fi
		out=$(clean "$TMP/copy.img")
		after=$(digest "$TMP/copy.img")
		[ "$before" = "$after" ] || out="$out the archive is another"
		"$FSASSAY" audit "$TMP/copy.img" >/dev/null 2>&1 || out="$out audit finds something"
		result "$name $way" "$out"
	done
	rm -f "$TMP/copy.img"
	drop_image "$name"
}

holes default
holes small-log --mkfs-options '-s 2' --size 100M
