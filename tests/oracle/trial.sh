#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# The quick plan: every filesystem and packing policy, each audited full and empty with closed books and the kernel's own df; a
# result that is valid; its tables. And a trial that is stopped, that has no room, that lacks a program or a kernel: it says so,
# leaves nothing behind, and goes on from there.
. "$(dirname "$0")/lib.sh"
need python3 mke2fs mkfs.xfs mkfs.btrfs mkfs.reiserfs mkfs.reiser4 mkfs.jfs
cd "$TMP" || exit 1
mkdir images

leftovers() { # what a trial must not leave; prints it
	find "$TMP/images" "$TMP" -mindepth 1 -maxdepth 1 \( -name '.fsassay*' -o -name 'fsassay-*' -o -name '*.img' -o -name '*.result.json.*' \)
	grep -F "$TMP" /proc/mounts
	for backing in /sys/block/loop*/loop/backing_file; do
		[ -e "$backing" ] && grep -F "$TMP" "$backing"
	done
	pgrep -af "fsassay_dir=$TMP" | cut -c 1-100
}

kernels=yes
can_mount ext4 || command -v linux.uml >/dev/null || kernels=
command -v linux.uml >/dev/null || kernels=
if [ -z "$kernels" ]; then
	echo "skip quick plan: user-mode Linux is not installed"
else
	"$FSASSAY" trial --result quick.json "$TOP/samples/trials/quick.plan" >quick.txt 2>quick.err
	status=$?
	[ $status = 0 ] && why= || why="exit status $status: $(grep -v ' s; ' quick.err | tail -n 5) $(grep -e finding -e df -e books quick.err | head -n 3)"
	result "quick plan" "$why"
	result "quick plan closed" "$(python3 - quick.json 2>&1 <<-'P'
		import json, sys
		r = json.load(open(sys.argv[1]))
		cells, bad = r['cells'], []
		if not r['complete'] or len(cells) != len(r['filesystems']) * len(r['collections']) or len(cells) != 39:
		    bad.append('complete: %r, %d cells' % (r['complete'], len(cells)))
		for key, c in cells.items():
		    lib = c['populate']['engine'] == 'lib'
		    for what, a, files in (('filled', c['audit'], 1000), ('emptied', c['remove']['audit'], 0)):
		        if not a['consistent'] or a['findings'] or a['unexplained_bytes']:
		            bad.append('%s %s: %r' % (key, what, a['first_findings']))
		        if a['figures']['files'] != files:
		            bad.append('%s %s: %d files' % (key, what, a['figures']['files']))
		        if a['df_as_kernel'] is not (None if lib else True):
		            bad.append('%s %s: df %r, of the kernel %r' % (key, what, a['df'], c['df']))
		    for phase in ('mkfs', 'write', 'sync') + (() if lib else ('list', 'umount')):
		        if phase not in c['populate']['times']:
		            bad.append('%s: no time of %s' % (key, phase))
		    runs = c['readback']['passes'][0]['runs']
		    if not runs[0]['complete'] or runs[0]['entries'] < 1001:
		        bad.append('%s: read back %r' % (key, runs[0]))
		# The same content everywhere: the payload of each collection is what was written.
		for name, size in (('size-100B', 100), ('size-1K', 1000), ('size-10K', 10000)):
		    for key, c in cells.items():
		        if key.endswith('/' + name) and c['audit']['figures']['payload_bytes'] != 1000 * size:
		            bad.append('%s: payload %d' % (key, c['audit']['figures']['payload_bytes']))
		print('; '.join(bad[:5]))
		P
	)"
	# What the policies are for.
	result "quick plan packing" "$(python3 - quick.json 2>&1 <<-'P'
		import json, sys
		cells, bad = json.load(open(sys.argv[1]))['cells'], []
		tails = lambda key: cells[key]['audit']['tails']['files'] + cells[key]['audit']['inline']['files']
		for key, want in (('reiserfs/size-1K', 1000), ('reiserfs/size-10K', 0), ('reiserfs-tails/size-10K', 1000),
		                  ('reiserfs-notail/size-100B', 0), ('reiser4-tails/size-10K', 1000), ('reiser4-extents/size-1K', 0),
		                  ('btrfs-single/size-1K', 1000), ('btrfs-dup/size-10K', 0), ('ext4/size-100B', 0)):
		    if tails(key) != want:
		        bad.append('%s: %d packed and not %d' % (key, tails(key), want))
		print('; '.join(bad))
		P
	)"
	grep -q 'closed, df as the kernel' quick.txt && grep -q '^reiser4' <(awk '{ print $2 }' quick.txt) && why= || why="$(head -n 5 quick.txt)"
	result "quick plan report" "$why"
	if python3 -c 'import jsonschema' 2>/dev/null; then
		result "quick plan schema" "$(python3 - "$TOP/analyzer/schema/trial.schema.json" quick.json 2>&1 <<-'P'
			import json, sys
			import jsonschema
			schema, document = (json.load(open(p)) for p in sys.argv[1:])
			kind = jsonschema.validators.validator_for(schema)
			kind.check_schema(schema)
			for e in list(kind(schema).iter_errors(document))[:1]:
			    print('/'.join(map(str, e.path)), e.message[:300])
			P
		)"
	else
		echo "skip quick plan schema: python3-jsonschema is not installed"
	fi
	for format in text csv markdown; do
		"$FSASSAY" trial --report quick.json --format $format >report.$format 2>err
		[ $? = 0 ] && [ "$(grep -c 'size-1K' report.$format)" -ge 39 ] && why= || why="$(cat err) $(head -n 3 report.$format)"
		result "report $format" "$why"
	done
	result "report is that of the run" "$(diff quick.txt report.text | head -n 3)"
	result "quick plan leaves nothing" "$(leftovers | head -n 3)"
fi

# Three that a library fills, so that it needs no kernel: stopped by a signal in the middle, then carried on.
cat >small.plan <<'PLAN'
title = small
collections = size-1K
files = 30000
engine = lib
[ext4]
size-is-no-key = 1
PLAN
"$FSASSAY" trial small.plan >out 2>err
[ $? = 2 ] && grep -q "small.plan: line 6: 'size-is-no-key'" err && why= || why=$(cat err)
result "a plan with a mistake" "$why"
cat >small.plan <<'PLAN'
title = small
collections = size-1K
files = 20000
engine = lib
[smart]
fs = reiser4
[tails]
fs = reiser4
mkfs-options = -o formatting=tails
[last]
fs = reiser4
PLAN
export TMPDIR=$TMP/images
"$FSASSAY" trial small.plan >out 2>err &
pid=$!
# The signal comes once something is under way behind the first one.
for _ in $(seq 1200); do
	[ -s small.result.json ] && grep -q '^\[1/3\]' err && ls "$TMP"/images/fsassay-trial-*/.fsassay-* >/dev/null 2>&1 && break
	sleep 0.05
done
kill -TERM $pid
wait $pid
status=$?
[ $status = 143 ] && grep -q 'stopped with [12] of 3 done; the same command goes on' err && why= || why="exit status $status: $(cat err)"
result "stopped by a signal" "$why"
result "stopped leaves nothing" "$(leftovers | head -n 3)"
"$FSASSAY" trial small.plan >out 2>err
status=$?
[ $status = 0 ] && grep -q '^[12] done before, [12] to go$' err && why= || why="exit status $status: $(cat err)"
result "carried on" "$why"
result "carried on to the end" "$(python3 -c '
import json
r = json.load(open("small.result.json"))
print("" if r["complete"] and sorted(r["cells"]) == ["last/size-1K", "smart/size-1K", "tails/size-1K"] else r["cells"].keys())' 2>&1)"
"$FSASSAY" trial small.plan >again 2>err
[ $? = 0 ] && diff out again >/dev/null && why= || why="$(cat err)"
result "nothing left to do" "$why"
sed -i 's/files = 20000/files = 100/' small.plan
"$FSASSAY" trial small.plan >out 2>err
[ $? = 2 ] && grep -q 'of another plan.*--restart' err && why= || why="$(cat err)"
result "another plan" "$why"
"$FSASSAY" trial --restart --only 'tails/*' --keep --images images small.plan >out 2>err
[ $? = 0 ] && [ -s images/tails-size-1K.img ] && [ -s images/tails-size-1K.img.manifest.json ] && [ ! -e images/last-size-1K.img ] && why= || why="$(cat err; ls images)"
result "one kept" "$why"
[ -n "$why" ] || result "one kept is whole" "$(FSASSAY=$FSASSAY python3 "$TOP/tests/oracle/check_image.py" --only audit,ls,payload,extract --name kept images/tails-size-1K.img -- | grep -v '^ok')"
rm -f images/*

# Options that mkfs will not have: those filesystems fail, and say so, and the others are done.
cat >missing.plan <<'PLAN'
collections = size-100B
files = 50
engine = lib
[reiser4]
mkfs-options = -o no=such
[ext4]
features = no_such_feature
[ext2]
PLAN
"$FSASSAY" trial missing.plan >out 2>err
status=$?
[ $status = 2 ] && grep -q 'ext4/size-100B.*mke2fs failed' err && grep -q '2 of 3 failed' err && grep -q '^ext4/size-100B ' out && why= || why="exit status $status: $(cat err)"
result "mkfs that fails" "$why"
result "mkfs that fails leaves nothing" "$(leftovers | head -n 3)"

# A program that is not there: this mount namespace has an empty file in its place.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	printf 'collections = size-100B\nfiles = 50\nengine = lib\n[reiser4]\n[ext4]\n' >tool.plan
	: >none && chmod 644 none
	unshare -m sh -c 'mount --bind none "$(command -v mkfs.reiser4)" && exec "$0" trial tool.plan' "$FSASSAY" >out 2>err
	status=$?
	[ $status = 2 ] && grep -q 'reiser4/size-100B.*mkfs.reiser4 is not installed' err && grep -q '1 of 2 failed' err && why= || why="exit status $status: $(cat err)"
	result "a missing program" "$why"
	"$FSASSAY" trial tool.plan >out 2>err
	[ $? = 0 ] && grep -q '^1 done before, 1 to go$' err && why= || why="$(cat err)"
	result "a missing program, installed" "$why"
fi

# A kernel that does not boot.
printf 'collections = size-100B\nfiles = 50\nengine = uml\n[ext4]\n' >boot.plan
mkdir broken && printf '#!/bin/sh\necho no luck today\nexit 1\n' >broken/linux.uml && chmod +x broken/linux.uml
PATH=$TMP/broken:$PATH "$FSASSAY" trial boot.plan >out 2>err
status=$?
[ $status = 2 ] && grep -q 'user-mode Linux does not boot: it ended with status 1' err && grep -q '1 of 1 failed' err && why= || why="exit status $status: $(cat err)"
result "a kernel that does not boot" "$why"
grep -q 'no luck today' boot.result.json && why= || why="its words are not in the result"
result "its last words" "$why"
result "a kernel that does not boot leaves nothing" "$(leftovers | head -n 3)"

# No room: said before it begins; and a disk that fills up in the middle.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	printf 'collections = size-100K\nfiles = 2000\nengine = lib\n[ext4]\n' >full.plan
	unshare -m sh -c 'mount -t tmpfs -o size=60m none images && exec "$0" trial full.plan' "$FSASSAY" >out 2>err
	status=$?
	[ $status = 2 ] && grep -q 'ext4/size-100K needs about .* of room, and there is only 60M' err && grep -q 'stopped with 0 of 1 done' err && why= || why="exit status $status: $(cat err)"
	result "no room" "$why"
	# What takes the room comes when the image is begun: without it there is enough.
	unshare -m sh -c 'mount -t tmpfs -o size=300m none images
		"$0" trial full.plan & trial=$!
		for i in $(seq 1200); do
			ls images/fsassay-trial-*/.fsassay-* >/dev/null 2>&1 && break
			sleep 0.05
		done
		head -c 400M /dev/zero >images/ballast 2>/dev/null
		wait $trial; status=$?
		rm images/ballast; ls -A images; exit $status' "$FSASSAY" >out 2>err
	status=$?
	[ $status = 2 ] && grep -q 'the disk is full' err && grep -q 'stopped with 0 of 1 done' err && ! grep -e fsassay-trial out >/dev/null && why= || why="exit status $status: $(cat err out)"
	result "a full disk" "$why"
	"$FSASSAY" trial full.plan >out 2>err
	result "a full disk, later" "$([ $? = 0 ] || cat err)"
else
	echo "skip no room: it needs root"
fi
result "nothing is left at the end" "$(leftovers | head -n 3)"
