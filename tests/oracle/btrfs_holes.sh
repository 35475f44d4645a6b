#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Property: wherever map says free, a hole or any byte may be put: btrfs check stays content, no file changes, and contents still have
# their checksums.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.btrfs btrfs sha256sum

holes() { # NAME POPULATE-OPTION...
	local name=$1 before way out
	shift
	make_image "$name" --fs btrfs --collection mixed --files 30 "$@" || return
	before=$("$FSASSAY" extract "$TMP/$name.img" 2>/dev/null | sha256sum)
	for way in hole fill; do
		cp --sparse=always "$TMP/$name.img" "$TMP/copy.img"
		if ! out=$(python3 "$TOP/tests/oracle/punch.py" $way "$TMP/copy.img" 2>&1); then
			result "$name $way" "$out"
			continue
		fi
		out=
		btrfs check --readonly --check-data-csum "$TMP/copy.img" >"$TMP/check" 2>&1 || out=$(tail -n 4 "$TMP/check")
		[ "$before" = "$("$FSASSAY" extract "$TMP/copy.img" 2>/dev/null | sha256sum)" ] || out="$out the archive is another"
		"$FSASSAY" audit --verify-data "$TMP/copy.img" >"$TMP/audit" 2>&1 || out="$out $(tail -n 4 "$TMP/audit")"
		result "$name $way" "$out"
	done
	rm -f "$TMP/copy.img"
	drop_image "$name"
}

holes default --size 160M
holes mixed-zstd --size 100M --mkfs-options "--mixed -n 4096" --mount-options compress-force=zstd
holes dup-data --size 260M --mkfs-options "-d dup --csum sha256"
