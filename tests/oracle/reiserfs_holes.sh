#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Property: wherever map says free, a hole or any byte may be put: reiserfsck stays content and no file changes.
. "$(dirname "$0")/lib.sh"
need python3 reiserfsck sha256sum

digest() { # IMAGE: of all that extract says
	"$FSASSAY" extract "$1" 2>/dev/null | sha256sum
}

# holes NAME: $TMP/NAME.img
holes() {
	local name=$1 before way out after
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
		reiserfsck --check -y "$TMP/copy.img" 2>&1 </dev/null | grep -aq "No corruptions found" || out="$out reiserfsck finds something"
		result "$name $way" "$out"
	done
	rm -f "$TMP/copy.img"
}

for words in "small block=512 size=3000000 names=300" "plain block=4096 size=6000000" "old-format block=2048 size=4000000 format=3.5"; do
	set -- $words
	python3 "$TOP/tests/oracle/reiserfs_make.py" "$TMP/$1.img" "${@:2}" >/dev/null && holes "$1"
done
if [ -z "${FSA_LONG:-}" ]; then
	echo "skip holes of filled images: FSA_LONG is not set"
	exit 0
fi
for words in "default" "tails --mount-options tails=on" "small-journal --mkfs-options -s@513"; do
	set -- ${words//@/ }
	name=$1
	shift
	[ $# -le 2 ] || set -- "$1" "$2 $3"
	ENGINE=uml make_image "$name" --fs reiserfs --collection mixed --files 30 "$@" && holes "$name"
	drop_image "$name"
done
