#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# compare: the same content on several formats is found to be the same by manifests and by reading, also where zeros are stored
# that are holes elsewhere; one byte, one name, one target that differs is found; ranks and sizes are those of the audits.
. "$(dirname "$0")/lib.sh"
need python3 mke2fs mkfs.reiser4 debugfs
cd "$TMP" || exit 1

content() { # "by same" of compare -J
	"$FSASSAY" compare -J "$@" 2>&1 | python3 -c '
import json, sys
c = json.load(sys.stdin)["content"]
print(c["by"], c["same"], len(set(c["digests"])))' 2>&1
}
is() { # NAME WANT GOT
	[ "$2" = "$3" ] && why= || why="'$3' and not '$2'"
	result "$1" "$why"
}

tree="--collection clones --clones 1 --files 200"
for fs in ext2 ext4 reiser4; do
	ENGINE=lib make_image $fs --fs $fs $tree || exit
done
ENGINE=lib make_image other --fs ext4 $tree --seed 2 || exit
is "manifests" "manifest True 1" "$(content ext2.img ext4.img reiser4.img)"
is "reading" "digest True 1" "$(content --content digest ext2.img ext4.img reiser4.img)"
is "not asked for" "none None 1" "$(content --content none ext2.img ext4.img)"
is "another seed" "manifest False 2" "$(content ext4.img other.img)"
grep -q '^All hold the same, by their manifests: [0-9]* names' <("$FSASSAY" compare ext2.img ext4.img) && why= || why="it does not say so"
result "said" "$why"

# No manifest, or one of an image that has been changed since: then they are read.
cp --sparse=always ext4.img bare.img
is "one without manifest" "digest True 1" "$(content ext2.img bare.img)"
cp --sparse=always ext4.img less.img && cp ext4.img.manifest.json less.img.manifest.json
name=$(debugfs -R 'ls -p /tree-0/arch0' less.img 2>/dev/null | awk -F/ '$3 ~ /^100/ { print $6; exit }')
debugfs -w -R "rm /tree-0/arch0/$name" less.img >/dev/null 2>&1
is "a file less" "none None 1" "$(content bare.img less.img)"
grep -q 'do not hold the same: numbers' <("$FSASSAY" compare bare.img less.img) && why= || why="it does not say so"
result "a file less, said" "$why"

# A name and a byte, with all numbers as they were.
cp --sparse=always bare.img name.img
debugfs -w -R "ln /tree-0/arch0/$name /tree-0/arch0/renamed" name.img >/dev/null 2>&1
debugfs -w -R "unlink /tree-0/arch0/$name" name.img >/dev/null 2>&1
is "another name" "digest False 2" "$(content bare.img name.img)"
cp --sparse=always bare.img byte.img
python3 - "$("$FSASSAY" map -J byte.img | python3 -c '
import json, sys
runs = json.load(sys.stdin)["runs"]
print(next(r["offset"] for r in runs if r["purpose"] == "file-data"))')" <<-'P'
	import sys
	with open('byte.img', 'r+b') as f:
	    f.seek(int(sys.argv[1]))
	    b = f.read(1)[0]
	    f.seek(int(sys.argv[1]))
	    f.write(bytes([b ^ 1]))
P
is "another byte" "digest False 2" "$(content bare.img byte.img)"
grep -q 'do not hold the same: paths or contents' <("$FSASSAY" compare bare.img byte.img) && why= || why="it does not say so"
result "another byte, said" "$why"

# Holes here, zeros there.
for sparse in yes no; do
	truncate -s 64M zeros-$sparse.img && mke2fs -q -F -t ext4 zeros-$sparse.img
	truncate -s 3M file && printf end >>file
	[ $sparse = yes ] || { head -c 3M /dev/zero >file; printf end >>file; }
	mkdir -p d$sparse && cp --sparse=$([ $sparse = yes ] && echo always || echo never) file d$sparse/file
	mke2fs -q -F -t ext4 -d d$sparse zeros-$sparse.img
	ln -sf there d$sparse/link
done
is "holes and zeros" "digest True 1" "$(content zeros-yes.img zeros-no.img)"
ln -sf elsewhere dno/link
mke2fs -q -F -t ext4 -d dyes zeros-yes.img; mke2fs -q -F -t ext4 -d dno zeros-no.img
is "another target" "digest False 2" "$(content zeros-yes.img zeros-no.img)"

# The figures of the other formats of output are those of JSON.
why=$("$FSASSAY" compare -b --format csv --per-size-class ext2.img reiser4.img >out.csv 2>err
"$FSASSAY" compare -J ext2.img reiser4.img >out.json 2>>err
python3 - 2>&1 <<'P'
import csv, json
images = json.load(open('out.json'))['images']
rows = [r for r in csv.reader(open('out.csv')) if r]
figures = {r[1]: r[2:] for r in rows if r[0] == 'Figures'}
classes = [r for r in rows if r[0].startswith('Bytes taken')]
bad = []
for i, a in enumerate(images):
    if int(figures['used'][i]) != a['figures']['used_bytes'] or int(figures['payload'][i]) != a['figures']['payload_bytes']:
        bad.append('used or payload')
    journal = next(l['bytes'] for l in a['ledger'] if l['purpose'] == 'journal')
    if int(figures['  journal'][i]) != journal:
        bad.append('journal')
    mine = [r[2 + i] for r in classes if r[2 + i] != '-']
    want = ['%.1f' % ((c['stored_bytes'] + c['overhead_bytes']) / c['files']) for c in a['size_classes']]
    if mine != want or not want:
        bad.append('classes %s and not %s' % (mine[:4], want[:4]))
print(' '.join(bad))
P
)
result "csv" "$why$(cat err)"
"$FSASSAY" compare --format markdown ext2.img reiser4.img | grep -q '^| used | .* | .* |$' && why= || why="no such row"
result "markdown" "$why"
