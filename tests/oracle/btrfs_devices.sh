#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# btrfs over several devices, filled by the running kernel over loop devices in a mount namespace of its own: every profile
# closes its books over all devices, df and `btrfs filesystem usage` say the same, and with devices missing that the
# profile can stand the contents are still those of the kernel.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.btrfs btrfs losetup unshare
can_mount btrfs || { echo "skip btrfs_devices: root and a kernel with btrfs are needed"; exit 0; }

# fill NAME COUNT MKFS-WORDS: images $TMP/NAME.0 ..., what the kernel says in $TMP/NAME.*
fill() {
	local name=$1 count=$2 words=$3
	export name count words
	unshare -m bash -c '
		mount --make-rprivate /
		devices=() status=1
		for ((i = 0; i < count; i++)); do
			truncate -s 200M "$TMP/$name.$i"
			devices+=("$(losetup -f --show "$TMP/$name.$i")") || exit 1
		done
		mkdir -p "$TMP/mnt"
		if mkfs.btrfs -q $words "${devices[@]}" && mount -o noatime "${devices[0]}" "$TMP/mnt"; then
			for i in 1 2 3 4 5 6 7 8; do
				mkdir "$TMP/mnt/d$i"
				head -c $((i * 123457)) /dev/urandom >"$TMP/mnt/d$i/random"
				seq $((i * 1000)) >"$TMP/mnt/d$i/seq"
				echo "inline $i" >"$TMP/mnt/d$i/small"
			done
			umount "$TMP/mnt"
			mount -o noatime "${devices[0]}" "$TMP/mnt"
			stat -f -c "%S %b %f %a" "$TMP/mnt" >"$TMP/$name.df"
			(cd "$TMP/mnt" && find . -type f -exec sha256sum {} + | sort -k 2) >"$TMP/$name.sums"
			umount "$TMP/mnt" && status=0
		fi
		for d in "${devices[@]}"; do losetup -d "$d"; done
		exit $status' >"$TMP/fill.log" 2>&1
}

# check NAME "PRESENT..." STATUS: the audit and the extracted tree of the images with these numbers.
check() {
	local name=$1 present=$2 want=$3 images=() options=() i label="$1${4:+ $4}"
	for i in $present; do images+=("$TMP/$name.$i"); done
	for i in "${images[@]:1}"; do options+=(--device "$i"); done
	result "$label audit" "$(python3 - "$want" "$TMP/$name.df" "$FSASSAY" audit -J "${options[@]}" "${images[0]}" -- "${images[@]}" <<-'PY' 2>&1
		import json, os, subprocess, sys
		want, df, words = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
		images = words[words.index('--') + 1:]
		run = subprocess.run(words[:words.index('--')], capture_output=True, text=True)
		a = json.loads(run.stdout)['images'][0]
		r = a['reconciliation']
		if run.returncode != want:
		    print('exit status', run.returncode, [f['message'] for f in a['findings']][:4])
		if sum(p['bytes'] for p in a['ledger']) != sum(os.path.getsize(i) for i in images):
		    print('the ledger is not the sum of the devices')
		for k in ('lost_blocks', 'conflict_blocks', 'used_free_blocks'):
		    if r[k]:
		        print(k, r[k])
		if a['bridge']['unexplained_bytes']:
		    print('unexplained', a['bridge']['unexplained_bytes'])
		unit, blocks, free, available = map(int, open(df).read().split())
		if want == 0 and [a['df'][k] for k in ('size_kib', 'used_kib', 'available_kib')] != \
		        [blocks * unit // 1024, (blocks - free) * unit // 1024, available * unit // 1024]:
		    print('df', a['df'], 'and not', blocks, free, available)
	PY
	)"
	rm -rf "$TMP/out" && mkdir "$TMP/out"
	"$FSASSAY" extract "${options[@]}" "${images[0]}" 2>/dev/null | tar -C "$TMP/out" -xf -
	result "$label extract" "$(cd "$TMP/out" && find . -type f -exec sha256sum {} + | sort -k 2 | diff - "$TMP/$name.sums" | head -n 4)"
}

# spoil NAME COUNT BAD...: these devices, superblocks apart, are overwritten wherever something is; readers get all from the
# others, and the audit names every copy.
spoil() {
	local name=$1 count=$2 images=() options=() i
	shift 2
	for ((i = 0; i < count; i++)); do images+=("$TMP/$name.$i"); done
	for i in "${images[@]:1}"; do options+=(--device "$i"); done
	result "$name spoiled" "$(python3 - "$FSASSAY" "$*" "${options[@]}" "${images[0]}" -- "${images[@]}" <<-'PY' 2>&1
		import json, re, subprocess, sys
		fsassay, bad, words = sys.argv[1], [int(n) for n in sys.argv[2].split()], sys.argv[3:]
		images = words[words.index('--') + 1:]
		words = words[:words.index('--')]
		run = lambda *w: subprocess.run([fsassay, *w, *words], capture_output=True, text=True)
		for r in json.loads(run('map', '-J').stdout)['runs']:
		    if r['device'] in bad and r['purpose'] not in ('free', 'superblock', 'outside'):
		        with open(images[r['device']], 'r+b') as f:
		            f.seek(r['offset'])
		            f.write(b'\xa5' * r['length'])
		r = run('audit', '-J', '--verify-data')
		a = json.loads(r.stdout)['images'][0]
		figures = {f['name']: f['value'] for f in a['format_figures'] if f['group'] == 'checksums of contents'}
		if r.returncode != 1 or figures['wrong, good on none'] or not figures['wrong, good on another copy']:
		    print(r.returncode, figures)
		for f in a['findings']:
		    m = re.search(r'has ([0-9a-f]+), computed ([0-9a-f]+)', f['message']) or re.search(r'checksum ([0-9a-f]+), computed ([0-9a-f]+)', f['message'])
		    if not m or m[1] == m[2] or f['device'] not in bad or not f['offset']:
		        print(f)
		        break
		if sum(p['bytes'] for p in a['ledger']) != a['image']['size_bytes'] or a['reconciliation']['lost_blocks']:
		    print('the books are not closed')
	PY
	)"
	rm -rf "$TMP/out" && mkdir "$TMP/out"
	"$FSASSAY" extract "${options[@]}" "${images[0]}" 2>"$TMP/err" | tar -C "$TMP/out" -xf -
	result "$name spoiled extract" "$(cd "$TMP/out" && find . -type f -exec sha256sum {} + | sort -k 2 | diff - "$TMP/$name.sums" | head -n 4
		grep -q 'checksum tree has' "$TMP/err" || echo "nothing is said of it")"
}

# joined NAME: of three devices given as images one beside the other, with a copy of the filesystem and another one between them.
joined() {
	local name=$1 i
	truncate -s 20M "$TMP/other.img" && mke2fs -q -F "$TMP/other.img" >/dev/null 2>&1
	for i in 0 1 2; do cp --sparse=always "$TMP/$name.$i" "$TMP/copy.$i"; done
	result "$name joined" "$(cd "$TMP" && python3 - "$FSASSAY" "$name" <<-'PY' 2>&1
		import json, subprocess, sys
		fsassay, name = sys.argv[1:]
		run = lambda *w: subprocess.run([fsassay, *w], capture_output=True, text=True)
		a, b, c, x, y, z = [n + '.%d' % i for n in (name, 'copy') for i in range(3)]
		audit = lambda *w: json.loads(run('audit', '-J', *w).stdout)['images']
		devices = lambda images: [[d['path'] for d in i['image'].get('devices', [{'path': i['image']['path']}])] for i in images]
		def want(what, have, wanted):
		    if have != wanted:
		        print('%s: %s and not %s' % (what, have, wanted))
		want('all', audit(a, b, c), audit('--device', b, '--device', c, a))
		want('two filesystems', devices(audit(b, x, 'other.img', c, a, z, y)), [[b, x, c], ['other.img'], [a, z, y]])
		want('in order', devices(audit(a, b, c, x, y, z)), [[a, b, c], [x, y, z]])
		want('an option names them', devices(audit('--device', b, a, c))[0], [a, b])
		some = audit(c, 'other.img', a)
		want('one missing', devices(some), [[c, a], ['other.img']])
		if not any(f['message'].endswith('is missing') for f in some[0]['findings']):
		    print(some[0]['findings'])
		if a + '\n' not in run('audit', c, a).stdout:
		    print('the report does not name all devices')
		r = run('compare', a, 'other.img', b, c)
		want('compare', r.returncode, 0)
		for d in (b, c):
		    if '%s: %s is a device of the same btrfs' % (a, d) not in r.stderr:
		        print(r.stderr)
		want('columns', len(r.stdout.split('\n')[0].split()), 3)
		r = json.loads(run('readback', '-J', '--tar', c, b, a).stdout)['images']
		want('readback', len(r), 1)
		want('a file that is not there', run('audit', a, 'none', b, c).returncode, 2)
		want('it is named once', run('audit', a, 'none', b, c).stderr.count('none'), 1)
	PY
	)"
	rm -f "$TMP/other.img" "$TMP"/copy.?
}

# profile NAME COUNT "PRESENT..." [MKFS-WORDS]: all devices, only some, and the missing ones there and spoiled.
profile() {
	local name=$1 count=$2 present=$3 words=${4:--d $1 -m $1} i
	fill "$name" "$count" "$words" || { result "$name fill" "$(tail -n 3 "$TMP/fill.log")"; return; }
	check "$name" "$(seq -s ' ' 0 $((count - 1)))" 0
	[ "$name" != raid5 ] || joined "$name"
	if [ -n "$present" ]; then
		check "$name" "$present" 1 degraded
		spoil "$name" "$count" $(for ((i = 0; i < count; i++)); do [[ " $present " == *" $i "* ]] || echo $i; done)
	fi
	rm -f "$TMP/$name".*
}

profile raid1 2 "1"
profile raid5 3 "0 2"
profile raid6 4 "0 3"
profile raid0 2 ""
profile raid10 4 "1 2 3"
profile raid1c3 3 "2"
profile raid1c4 4 "3"
profile mixed 2 "1" "--mixed -d raid1 -m raid1"

# A filesystem that grew from a seed lies on both; nodes on the seed carry the id of that one. Another seed is refused.
export name=seed
if unshare -m bash -c '
	mount --make-rprivate /
	truncate -s 200M "$TMP/seed.0" "$TMP/seed.1" "$TMP/seed.other"
	mkfs.btrfs -q "$TMP/seed.1" >/dev/null && mkfs.btrfs -q "$TMP/seed.other" >/dev/null || exit 1
	seed=$(losetup -f --show "$TMP/seed.1") && new=$(losetup -f --show "$TMP/seed.0") || exit 1
	trap "umount \"$TMP/mnt\" 2>/dev/null || :; losetup -d $seed $new" EXIT
	set -e
	mkdir -p "$TMP/mnt"
	mount "$seed" "$TMP/mnt"
	for i in 1 2 3 4; do head -c ${i}00000 /dev/urandom >"$TMP/mnt/old$i"; seq 2000 >"$TMP/mnt/seq$i"; done
	umount "$TMP/mnt"
	btrfstune -f -S 1 "$seed"
	mount -o ro "$seed" "$TMP/mnt"
	btrfs device add -f "$new" "$TMP/mnt"
	mount -o remount,rw,noatime "$TMP/mnt"
	head -c 500000 /dev/urandom >"$TMP/mnt/new"
	echo more >>"$TMP/mnt/seq1"
	rm "$TMP/mnt/old1"
	umount "$TMP/mnt"
	mount -o noatime "$new" "$TMP/mnt"
	stat -f -c "%S %b %f %a" "$TMP/mnt" >"$TMP/seed.df"
	(cd "$TMP/mnt" && find . -type f -exec sha256sum {} + | sort -k 2) >"$TMP/seed.sums"' >"$TMP/fill.log" 2>&1; then
	check seed "0 1" 0
	result "seed missing" "$("$FSASSAY" audit "$TMP/seed.0" 2>/dev/null | grep -q 'seed device of 209715200 bytes is missing' || echo "it is not said")"
	result "seed of another" "$("$FSASSAY" audit --device "$TMP/seed.other" "$TMP/seed.0" 2>&1 >/dev/null | grep -q 'a device of another btrfs' || echo "it is taken")"
else
	result "seed fill" "$(tail -n 3 "$TMP/fill.log")"
fi
rm -f "$TMP"/seed.*
