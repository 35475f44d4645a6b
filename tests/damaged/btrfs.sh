#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# One kind of damage at a time: named, bounded, and the rest still analysed with closed books.
. "$(dirname "$0")/../oracle/lib.sh"
need python3 mkfs.btrfs
make_image whole --fs btrfs --collection mixed --files 60 --size 200M --mount-options compress-force=zlib || exit 0
breaks=$TOP/tests/damaged/btrfs_break.py

# damage KIND WORDS [COMMAND]: after breaking, the findings hold WORDS, every byte still has a purpose.
damage() {
	local kind=$1 words=$2 command=${3:-audit} why= out status
	cp --sparse=always "$TMP/whole.img" "$TMP/broken.img"
	if ! out=$(python3 "$breaks" "$TMP/broken.img" "$kind" 2>&1); then
		result "$kind" "cannot be made: $out"
		return
	fi
	if [ "$command" = extract ]; then
		timeout 60 "$FSASSAY" extract "$TMP/broken.img" 2>"$TMP/err" >/dev/null
		status=$?
		grep -q -- "$words" "$TMP/err" || why="extract says: $(head -n 3 "$TMP/err")"
	else
		timeout 60 "$FSASSAY" audit -J "$TMP/broken.img" >"$TMP/out" 2>"$TMP/err"
		status=$?
		why=$(python3 - "$TMP/out" "$words" "$(stat -c %s "$TMP/broken.img")" <<-'PY'
			import json, sys
			a = json.load(open(sys.argv[1]))['images'][0]
			texts = ['%s %s: %s' % (f['object'], f['number'], f['message']) for f in a['findings']]
			if not any(sys.argv[2] in t for t in texts):
			    print('findings are', texts[:4])
			if sum(p['bytes'] for p in a['ledger']) != int(sys.argv[3]):
			    print('the ledger does not add up')
			PY
		) || why="no JSON: $(head -n 2 "$TMP/err")"
	fi
	[ "$status" = 1 ] || why="$why exit status $status"
	result "$kind" "$why"
}

damage one-copy "has checksum"
damage both-copies "has checksum"
damage transid "has generation"
damage level "has level"
damage item-offset "bytes of data at 60000"
damage item-count "entries, at most"
damage cycle "has level"
damage same-child "tree block"
damage chunk-overlap "overlap the chunk"
damage chunk-stripes "stripes"
damage no-csum "have checksums for"
damage link-count "link count 77"
damage references "9 references"
damage group-used "bytes used by its counter"
damage super-copy "superblock 1: checksum"
damage super "superblock 0: checksum"
damage expands "makes more bytes than that" extract
damage stream "broken" extract
