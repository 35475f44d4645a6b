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
damage name "has hash"
damage references "9 references"
damage group-used "bytes used by its counter"
damage super-copy "superblock 1: checksum"
damage super "superblock 0: checksum"
damage expands "makes more bytes than that" extract
damage stream "broken" extract

# Layouts that are not read are refused by name; --force says so and goes on.
for feature in 12:zoned 13:extent-tree-v2 14:raid-stripe-tree "40:unknown incompatible 0x10000000000"; do
	cp --sparse=always "$TMP/whole.img" "$TMP/broken.img"
	python3 "$breaks" "$TMP/broken.img" "incompat-${feature%%:*}"
	out=$("$FSASSAY" audit "$TMP/broken.img" 2>&1 >/dev/null)
	status=$?
	grep -q "incompatible features not supported: ${feature#*:} (" <<<"$out" && [ $status = 2 ] && why= || why="exit status $status: $out"
	"$FSASSAY" audit --force "$TMP/broken.img" 2>/dev/null | grep -q "incompatible features not understood: ${feature#*:}\( (\|\$\)" ||
		why="$why --force does not tell"
	result "refused ${feature#*:}" "$why"
done

# Contents, kept twice: what is wrong on one copy is said with both values and who holds it, and the other copy is what
# readers get; what is wrong on both is named, and all the rest is read.
drop_image whole
make_image twice --fs btrfs --collection mixed --files 60 --size 320M --mkfs-options "-d dup -m dup" || exit 0
# unpack IMAGE SUMS: the digests of all regular files; status is that of extract.
unpack() {
	rm -rf "$TMP/tree"
	mkdir "$TMP/tree"
	timeout 60 "$FSASSAY" extract -f "$TMP/tar" "$1" 2>"$TMP/err"
	status=$?
	tar -C "$TMP/tree" -xf "$TMP/tar" 2>/dev/null
	(cd "$TMP/tree" && find . -type f -size -64M -exec sha256sum {} + | sort -k 2) >"$2"
}
unpack "$TMP/twice.img" "$TMP/sums"
result "contents whole" "$([ "$status" = 0 ] && [ "$(wc -l <"$TMP/sums")" -gt 50 ] || cat "$TMP/err")"
for kind in data-copy data-second data-all data-compressed; do
	why=
	image=$TMP/twice.img
	if [ "$kind" = data-compressed ]; then
		make_image packed --fs btrfs --collection mixed --files 60 --size 320M --mount-options compress-force=zstd --mkfs-options "-d dup -m dup" || continue
		image=$TMP/packed.img
	fi
	cp --sparse=always "$image" "$TMP/broken.img"
	if ! out=$(python3 "$breaks" "$TMP/broken.img" "$kind" 2>&1); then
		result "$kind" "cannot be made: $out"
		continue
	fi
	timeout 60 "$FSASSAY" audit -J --verify-data "$TMP/broken.img" >"$TMP/out" 2>"$TMP/err"
	[ $? = 1 ] || why="audit: exit status is not 1: $(head -n 2 "$TMP/err")"
	why=$why$(python3 - "$TMP/out" "$kind" $out <<-'PY'
		import json, re, sys
		a = json.load(open(sys.argv[1]))['images'][0]
		kind, inode, place = sys.argv[2], sys.argv[3], int(sys.argv[4])
		place += 0 if kind == 'data-compressed' else 4096
		length = 4096 if kind == 'data-compressed' else 8192
		copies = {'data-copy': [1], 'data-second': [2], 'data-all': [1, 2], 'data-compressed': [1]}[kind]
		found = a['findings']
		if len(found) != len(copies):
		    print('findings are', [f['message'] for f in found])
		for f, copy in zip(sorted(found, key=lambda f: f['message']), copies):
		    good = 'no copy is good' if kind == 'data-all' else 'copy %d is good' % (3 - copy)
		    m = re.fullmatch(r'copy %d of %d bytes: the checksum tree has ([0-9a-f]{8}), computed ([0-9a-f]{8}); %s, held by inode %s of tree 5' %
		                     (copy, length, good, inode), f['message'])
		    if not m or m[1] == m[2]:
		        print(f['message'])
		    if copy != 2 and f['offset'] != place or f['object'] != 'data':
		        print(f)
		if a['reconciliation']['lost_blocks'] or a['bridge']['unexplained_bytes']:
		    print('the books are not closed')
		if kind != 'data-all' and not any(g['name'].startswith('wrong, good on another') and g['value'] == length for g in a['format_figures']):
		    print([g for g in a['format_figures'] if g['group'].startswith('checksums')])
	PY
	)
	# Without the option an audit does not read contents.
	"$FSASSAY" audit "$TMP/broken.img" >/dev/null 2>&1 || why="$why audit without --verify-data finds something"
	unpack "$TMP/broken.img" "$TMP/other"
	different=$(diff "$TMP/sums" "$TMP/other" | grep '^>')
	case $kind in
	data-second)
		# Nobody needs the second copy as long as the first is good.
		[ "$status" = 0 ] && [ -z "$different" ] || why="$why extract: $status $different" ;;
	data-all)
		[ "$status" = 1 ] && [ "$(wc -l <<<"$different")" = 1 ] && grep -q "inode ${out% *} .* 8192 of .*bytes cannot be read" "$TMP/err" && [ "$(grep -c "no copy is good" "$TMP/err")" = 1 ] ||
			why="$why extract: $status $different: $(head -n 3 "$TMP/err")" ;;
	*)
		[ "$status" = 1 ] && [ -z "$different" ] && grep -q "copy 2 is good" "$TMP/err" || why="$why extract: $status $different: $(head -n 3 "$TMP/err")" ;;
	esac
	result "$kind" "$why"
done
