#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Property: wherever map says free, a hole or any byte may be put: fsck.reiser4 stays content and no file changes.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.reiser4 fsck.reiser4 sha256sum

digest() { # IMAGE: of all that extract says
	"$FSASSAY" extract "$1" 2>/dev/null | sha256sum
}

holes() { # NAME MKFS-OPTIONS
	local name=$1 before way out after
	ENGINE=lib make_image "$name" --fs reiser4 --mkfs-options "-o $2" --collection mixed --files 20 --size 160M || return
	before=$(digest "$TMP/$name.img")
	for way in hole fill; do
		cp --sparse=always "$TMP/$name.img" "$TMP/copy.img"
		if ! out=$(python3 "$TOP/tests/oracle/punch.py" $way "$TMP/copy.img" 2>&1); then
			result "$name $way" "$out"
			continue
		fi
		after=$(digest "$TMP/copy.img")
		[ "$before" = "$after" ] && out= || out="the archive is another"
		"$FSASSAY" audit "$TMP/copy.img" >/dev/null 2>&1 || out="$out audit finds something"
		timeout -s KILL 60 fsck.reiser4 --check -y -f "$TMP/copy.img" 2>&1 </dev/null | grep -aq "FS is consistent" ||
			out="$out fsck.reiser4 finds something"
		result "$name $way" "$out"
	done
	rm -f "$TMP/copy.img"
	drop_image "$name"
}

holes smart create=reg40
[ -n "${FSA_LONG:-}" ] || { echo "skip holes of other layouts: FSA_LONG is not set"; exit 0; }
holes tails create=reg40,formatting=tails
holes extents create=reg40,formatting=extents,node=node41
holes compressed create=ccreg40
