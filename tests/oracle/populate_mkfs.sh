#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Filling by mkfs itself, XFS by a prototype file and btrfs by a directory: the image holds what the manifest says, as
# the format's checker, the running kernel and our own reading see it; what mkfs cannot express is listed as left out.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.xfs xfs_repair mkfs.btrfs btrfs
compare=$TOP/tests/oracle/populate_manifest.py

# mounted NAME TYPE: what the running kernel shows, when it mounts such a thing at all (blocks larger than pages).
mounted() {
	can_mount "$2" || return 0
	result "$1 mounted" "$(unshare -m sh -c 'mount -o loop,ro "$1" /mnt 2>/dev/null || exit 0
		python3 "$2" tree "$1.manifest.json" /mnt' - "$TMP/$1.img" "$compare" 2>&1)"
}

# refused NAME OPERATION/ERROR...: each of them is in the manifest's list, and what was refused is not in its entries.
refused() {
	local name=$1
	shift
	result "$name left out" "$(python3 - "$TMP/$name.img.manifest.json" "$@" <<-'P' 2>&1
		import json, sys
		m = json.load(open(sys.argv[1]))
		have = {'%s/%s' % (r['operation'], r['error']) for r in m['not_supported']}
		print(*sorted(set(sys.argv[2:]) - have))
		made = {e['path'] for e in m['entries']}
		for r in m['not_supported']:
		    if r['operation'] in ('create', 'mkdir', 'mknod', 'symlink', 'link') and r['path'] in made:
		        print(r['path'], 'is there all the same')
	P
	)"
}

xfs() { # NAME OPTION...
	local name=$1
	shift
	ENGINE=lib make_image "$name" --fs xfs --collection "${collection:-mixed}" --files "${files:-60}" "$@" || return
	result "$name xfs_repair" "$(xfs_repair -n "$TMP/$name.img" >"$TMP/repair.log" 2>&1 || tail -n 3 "$TMP/repair.log")"
	check_image "$name"
	mounted "$name" xfs
}

xfs proto
refused proto create/EOPNOTSUPP create/EILSEQ link/EOPNOTSUPP setxattr/EOPNOTSUPP symlink/ENAMETOOLONG symlink/EILSEQ \
	mknod/EOPNOTSUPP preallocate/EOPNOTSUPP write/EOPNOTSUPP mkdir/EOPNOTSUPP
result "proto times" "$(python3 - "$TMP/proto.img.manifest.json" <<-'P' 2>&1
	import json, sys
	m = json.load(open(sys.argv[1]))
	if m['times_kept'] != 'none' or any('mtime' in e for e in m['entries']): print('the manifest tells times')
	if 'sticky' in str(m['entries']) or any(e['mode'][0] in '1357' for e in m['entries']): print('a sticky bit')
	if m['library'] != 'mkfs.xfs -p' or 'kernel_release' in m or '-p prototype' not in m['mkfs_command']: print(m['library'], m['mkfs_command'])
P
)"
drop_image proto
for size in 16384 65536; do
	xfs "proto-$size" --block-size $size
	drop_image "proto-$size"
done
xfs proto-v4 --mkfs-options "-m crc=0"
drop_image proto-v4
xfs proto-ci --mkfs-options "-n version=ci"
refused proto-ci create/EEXIST
drop_image proto-ci
collection=size-10K files=300 xfs proto-sizes --block-size 65536 --mkfs-options "-m rmapbt=1 -d agcount=2"
drop_image proto-sizes
collection=small-12K files=60 xfs proto-links
refused proto-links link/EOPNOTSUPP relink/EOPNOTSUPP
drop_image proto-links

# A file that gets no place in one piece would be written over others by mkfs.xfs.
out=$("$FSASSAY" populate --fs xfs --engine lib --collection size-10M --files 26 --size 320M "$TMP/tight.img" 2>&1)
status=$?
left=$(find "$TMP" -mindepth 1 \( -name 'tight.img*' -o -name '.fsassay-*' -o -name 'fsassay-*' \))
case "$status $left $out" in
"2  "*"too small"*) why= ;;
*) why="status $status, left: $left, said: $out" ;;
esac
result "proto tight" "$why"

if [ "$(id -u)" = 0 ]; then
	for words in "" "-n 4096" "-M"; do
		name=rootdir${words// /}
		ENGINE=lib make_image "$name" --fs btrfs --collection mixed --files 60 --mkfs-options "$words" || continue
		result "$name btrfs check" "$(btrfs check --readonly "$TMP/$name.img" >"$TMP/check.log" 2>&1 || tail -n 3 "$TMP/check.log")"
		check_image "$name"
		mounted "$name" btrfs
		refused "$name" create/EOPNOTSUPP mknod/EOPNOTSUPP preallocate/EOPNOTSUPP symlink/ENAMETOOLONG setxattr/ENOSPC
		drop_image "$name"
	done
	# As anybody it says what is missing.
	chmod 711 "$TMP" && mkdir -m 777 "$TMP/anybody"
	if command -v setpriv >/dev/null; then
		cp "$FSASSAY" "$TMP/anybody/fsassay" && chmod 755 "$TMP/anybody/fsassay"
		out=$(cd "$TMP/anybody" && TMPDIR=/tmp setpriv --reuid 65534 --regid 65534 --clear-groups ./fsassay populate --fs btrfs --engine lib \
			--collection mixed b.img 2>&1)
		status=$?
		case "$status $out" in *"needs root"*) why= ;; *) why="status $status: $out" ;; esac
		result "rootdir needs root" "$why"
		out=$(cd "$TMP/anybody" && TMPDIR=/tmp setpriv --reuid 65534 --regid 65534 --clear-groups ./fsassay populate --fs xfs --engine lib \
			--collection mixed --files 10 x.img 2>&1) && why= || why=$out
		result "proto as anybody" "$why"
	fi
else
	echo "skip rootdir: it needs root"
fi
