#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 120
# Small images in layouts that no kernel fills, written by reiserfs_make.py and judged by reiserfsck: all block sizes, both
# formats, each hash, journals elsewhere, the old place of the superblock, safe links, transactions that wait.
# Run as `tests/oracle/reiserfs_made.sh NAME...` it takes only those layouts.
. "$(dirname "$0")/lib.sh"
need python3 reiserfsck debugreiserfs
chosen=" $* "
here=$TOP/tests/oracle

# made NAME WORD...: one of them. `finds` counts the findings that the layout must give.
made() {
	local name=$1 out status journal=
	shift
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	case $* in *external=*) journal=$TMP/made.journal ;; esac
	if ! out=$(python3 "$here/reiserfs_make.py" "$TMP/made.img" "$@" 2>&1 >"$TMP/made.json"); then
		result "$name make" "$out"
		return
	fi
	if [ -z "${unjudged:-}" ]; then
		cp "$TMP/made.img" "$TMP/made.copy"
		out=$(reiserfsck --check -y ${journal:+-j "$journal"} "$TMP/made.copy" 2>&1 </dev/null | tr -d '\0')
		case $out in *"No corruptions found"*) out= ;; *) out=$(printf %s "$out" | tail -n 5) ;; esac
		result "$name reiserfsck" "$out"
		result "$name items" "$(python3 "$here/reiserfs_items.py" items "$TMP/made.img" ${journal:+--journal-device "$journal"} 2>&1 |
			grep -v -e "exit status 1 and not 0" )"
	fi
	out=$("$FSASSAY" audit ${journal:+--journal-device "$journal"} "$TMP/made.img" 2>&1)
	status=$?
	out=$(printf '%s\n' "$out" | grep -a ': reiserfs: ')
	if [ "$(printf %s "$out" | grep -c .)" = "${finds:-0}" ] && [ $status = $((${finds:-0} > 0)) ]; then out=; else out="exit status $status: $out"; fi
	result "$name audit" "$out"
	result "$name contents" "$(python3 "$here/reiserfs_made.py" "$TMP/made.img" "$TMP/made.json" \
		${journal:+--journal-device "$journal"} 2>&1)"
}

made block-512 block=512 size=716800
made block-1k-tea block=1024 hash=tea
made block-2k block=2048 size=8000000 names=900
made block-4k block=4096 size=6000000
made block-8k-rupasov block=8192 size=8000000 hash=rupasov
made format-35 block=4096 size=6000000 format=3.5
made format-35-512 block=512 size=716800 format=3.5 hash=tea
made hash-unset block=512 size=716800 hash=unset
made reserved block=1024 reserved=600
made external block=1024 external="$TMP/made.journal"
made external-reserved block=1024 external="$TMP/made.journal" reserved=40
made two-bitmaps block=512 size=3000000 names=300
# reiserfsck of today calls the bitmap wrong also where mkfs.reiserfs -o has just made it, and no longer takes the old place.
unjudged=1 made moved block=1024 size=2000000 moved=1300
unjudged=1 made old-place block=1024 format=3.5 place=old
unjudged=1 made old-place-bitmaps block=512 format=3.5 place=old size=3000000
# The magic at 8192 + 20, where it was before there was a journal: named, not read.
truncate -s 1M "$TMP/no-journal.img"
printf ReIsErFs | dd of="$TMP/no-journal.img" bs=1 seek=8212 conv=notrunc status=none
out=$("$FSASSAY" audit "$TMP/no-journal.img" 2>&1)
case "$? $out" in "2 "*"reiserfs: superblock @0x2000: of a ReiserFS older than 3.5, without a journal"*) out= ;; esac
result no-journal "$out"
finds=1 made pending block=1024 pending=3
finds=2 made safe-links block=1024 safe-links deleted
