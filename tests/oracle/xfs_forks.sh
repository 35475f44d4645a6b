#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Files that force every fork, directory and attribute layout, as xfstests' populate does: made on a loop mount of the running
# kernel, verified by xfs_db that the layout came out, then audited beside xfs_repair, xfs_db, statfs and the tree itself.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.xfs xfs_repair xfs_db xfs_io setfattr tar
can_mount xfs || { echo "skip xfs_forks: no root, or the running kernel does not mount xfs"; exit 0; }
# In a namespace of mounts of its own: a copy of the mount that another process took would hold the filesystem open.
[ -n "${XFS_FORKS_PRIVATE:-}" ] || XFS_FORKS_PRIVATE=1 exec unshare -m --propagation private bash "$0" "$@"
chosen=" $* "
mnt=$TMP/mnt
mkdir -p "$mnt"
# Trees are compared on an XFS too: not every filesystem holds as many attributes.
room=$TMP/room
mkdir -p "$room"
truncate -s 1G "$TMP/room.img"
mkfs.xfs -q -f "$TMP/room.img"
mount -o loop "$TMP/room.img" "$room"
leave() {
	mountpoint -q "$mnt" && umount "$mnt"
	umount "$room"
	rm -f "$TMP/room.img"
}
trap leave EXIT

# fragmented FILE BLOCKS: as many extents as blocks, by writing every other block.
fragmented() {
	python3 - "$1" "$2" "$bs" <<-'P'
	import os, sys
	path, blocks, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
	with open(path, 'wb') as f:
	    for k in range(blocks):
	        f.seek(2 * k * size)
	        f.write(bytes([k % 251 + 1]) * size)
	P
}

names() { # DIR COUNT LENGTH: empty files with names of LENGTH bytes
	python3 - "$@" <<-'P'
	import os, sys
	path, count, length = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
	os.makedirs(path, exist_ok=True)
	for k in range(count):
	    os.close(os.open('%s/%s' % (path, ('%08d' % k).ljust(length, 'x')), os.O_CREAT | os.O_WRONLY))
	P
}

attrs() { # FILE COUNT BYTES: attributes with values of BYTES
	python3 - "$@" <<-'P'
	import os, sys
	path, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
	open(path, 'ab').close()
	for k in range(count):
	    os.setxattr(path, 'user.%08d' % k, bytes([k % 251]) * size)
	P
}

fill() {
	# data forks
	echo hello >"$mnt/small"
	truncate -s 10M "$mnt/hole"
	fragmented "$mnt/extents" 6
	fragmented "$mnt/btree" "$((bs * 2))"
	xfs_io -f -c 'falloc 0 1m' -c 'pwrite -q 100k 50k' "$mnt/unwritten"
	xfs_io -f -c 'falloc -k 0 2m' -c 'pwrite -q 0 10000' "$mnt/beyond"
	# directories
	mkdir "$mnt/dir-empty"
	names "$mnt/dir-short" 4 8
	names "$mnt/dir-block" 40 8
	names "$mnt/dir-leaf" $((bs / 8)) 16
	names "$mnt/dir-node" $((bs * 2)) 40
	names "$mnt/dir-stale" $((bs * 2)) 40
	(cd "$mnt/dir-stale" && ls | awk 'NR % 3' | xargs rm)
	# symlinks
	ln -s target "$mnt/link-inode"
	ln -s "$(head -c 1000 /dev/zero | tr '\0' l)" "$mnt/link-block"
	# attributes
	attrs "$mnt/attr-inode" 1 10
	attrs "$mnt/attr-leaf" 20 20
	attrs "$mnt/attr-node" 400 30
	attrs "$mnt/attr-remote" 6 40000
	attrs "$mnt/attr-deleted" 300 100
	for k in $(seq 0 2 299); do setfattr -x "user.$(printf %08d "$k")" "$mnt/attr-deleted"; done
	# things without blocks
	mknod "$mnt/char" c 5 1
	mknod "$mnt/block" b 8 259
	mkfifo "$mnt/fifo"
	# many small files, most deleted again
	names "$mnt/churn" 3000 20
	(cd "$mnt/churn" && ls | awk 'NR % 50' | xargs rm)
	ln "$mnt/small" "$mnt/small-again"
}

share() {
	dd if=/dev/urandom of="$mnt/original" bs=64k count=40 status=none
	for k in 1 2 3 4 5; do cp --reflink=always "$mnt/original" "$mnt/clone-$k"; done
	for k in 1 2 3; do xfs_io -c "pwrite -q $((k * 70000)) 30000" -c "pwrite -q $((k * 400000)) 5000" "$mnt/clone-$k"; done
	xfs_io -c 'truncate 1000001' "$mnt/clone-4"
	xfs_io -c 'fpunch 100k 200k' "$mnt/clone-5"
	xfs_io -f -c "reflink $mnt/original 0 0 1m" -c "reflink $mnt/original 0 1m 1m" "$mnt/itself"
	rm "$mnt/original"
}

# Free space in pieces smaller than a chunk of inodes: chunks are then made with holes in them.
sparse() {
	mkdir "$mnt/filler"
	python3 - "$mnt" "$bs" <<-'P'
	import os, sys
	mnt, size = sys.argv[1], int(sys.argv[2])
	names, k = [], 0
	os.sync()
	free = os.statvfs(mnt).f_bavail
	with open(mnt + '/big', 'wb') as f:
	    os.posix_fallocate(f.fileno(), 0, max(0, free - 9000) * size)
	try:
	    while True:
	        name = '%s/filler/%d' % (mnt, k)
	        with open(name, 'wb') as f:
	            os.posix_fallocate(f.fileno(), 0, 4 * size)
	        names.append(name)
	        k += 1
	except OSError:
	    pass
	os.sync()
	for name in names[::2]:
	    os.unlink(name)
	os.sync()
	try:
	    for k in range(4000):
	        os.close(os.open('%s/s%d' % (mnt, k), os.O_CREAT | os.O_WRONLY))
	except OSError:
	    pass
	P
}

# formats LETTER: how many inodes have the data (core.format) or attribute (core.aformat) fork of a kind.
formats() {
	local what=$1 path=$2
	xfs_db -r -c "path $path" -c "print core.$what" "$img" 2>/dev/null | grep -o '([a-z]*)' | tr -d '()'
}

verify() {
	local why= block=extents
	# Inodes of 2 KiB have room for the longest target and for these attributes.
	[ "$(xfs_db -r -c 'sb 0' -c 'print inodesize' "$img" | sed 's/.*= //')" -lt 2048 ] || block=local
	[ "$(formats format /extents)" = extents ] || why="$why extents"
	[ "$(formats format /btree)" = btree ] || why="$why btree"
	[ "$(formats format /dir-short)" = local ] || why="$why dir-short"
	[ "$(formats format /dir-block)" = extents ] || why="$why dir-block"
	[ "$(formats format /link-inode)" = local ] || why="$why link-inode"
	[ "$(formats format /link-block)" = $block ] || why="$why link-block"
	[ "$(formats aformat /attr-inode)" = local ] || why="$why attr-inode"
	[ "$(formats aformat /attr-leaf)" = $block ] || why="$why attr-leaf"
	xfs_db -r -c 'path /attr-node' -c 'ablock 0' -c 'print hdr.info' "$img" 2>/dev/null | grep -q 'magic = 0x[3f]ebe' || why="$why attr-node"
	xfs_db -r -c 'path /dir-node' -c "dblock $((1 << (35 - $(python3 -c "print(($bs).bit_length() - 1)"))))" -c p "$img" 2>/dev/null |
		grep -qE 'magic = 0x(3dff|d2ff|3ebe|febe)' || why="$why dir-node"
	result "$name layouts came out" "${why:+not:$why}"
}

# forks NAME SIZE "STEPS" MKFS-OPTION...
forks() {
	name=$1
	local size=$2 steps=$3 step options=defaults df_rw df_ro out loop
	shift 3
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	img=$TMP/$name.img
	rm -f "$img" "$TMP/rt.img"
	truncate -s "$size" "$img"
	rt=()
	if [ -n "${realtime:-}" ]; then
		truncate -s 100M "$TMP/rt.img"
		set -- "$@" -r "rtdev=$TMP/rt.img,extsize=16k"
		rtloop=$(losetup -f --show "$TMP/rt.img")
		options=rtdev=$rtloop
		rt=(--rt-device "$TMP/rt.img")
	fi
	mkfs.xfs -q -f "$@" "$img" || { result "$name mkfs" "fails"; return; }
	bs=$(xfs_db -r -c 'sb 0' -c 'print blocksize' "$img" | sed 's/.*= //')
	loop=$(losetup -f --show "$img")
	mount -o "$options${mount:+,$mount}" "$loop" "$mnt" || {
		# Quota and realtime support are choices of a kernel's build.
		echo "skip $name: the running kernel does not mount it"
		losetup -d "$loop"
		[ -z "${realtime:-}" ] || losetup -d "$rtloop"
		rm -f "$img" "$TMP/rt.img"
		return
	}
	for step in $steps; do $step >/dev/null; done
	sync
	umount "$mnt"
	# As a kernel sees it that has just mounted it, both ways.
	mount -o "$options,ro" "$loop" "$mnt"
	df_ro=$(stat -f -c '%b %f %a %c %d' "$mnt")
	rm -rf "$room/tree"
	cp -a --sparse=always "$mnt" "$room/tree"
	find "$mnt" -printf '%i %b %n %s %P\n' | sort >"$TMP/stat.kernel"
	umount "$mnt"
	mount -o "$options" "$loop" "$mnt"
	df_rw=$(stat -f -c '%b %f %a %c %d' "$mnt")
	umount "$mnt"
	losetup -d "$loop"
	[ -n "${realtime:-}" ] && losetup -d "$rtloop"
	case " $steps " in *" fill "*) verify ;; esac
	[ -n "${realtime:-}" ] || result "$name xfs_repair" "$(xfs_repair -n "$img" >"$TMP/repair.log" 2>&1 || tail -n 3 "$TMP/repair.log")"
	out=$("$FSASSAY" audit -J "${rt[@]}" "$img" 2>&1)
	result "$name audit" "$(python3 "$TOP/tests/oracle/xfs_audit.py" "$df_rw" "$df_ro" <<<"$out" 2>&1)"
	[ -n "${realtime:-}" ] || result "$name blockget" "$(python3 "$TOP/tests/oracle/xfs_blocks.py" "$img" 2>&1)"
	"$FSASSAY" ls -R -J "${rt[@]}" "$img" >"$TMP/ls.json" 2>"$TMP/ls.err"
	result "$name ls" "$(python3 "$TOP/tests/oracle/xfs_ls.py" "$TMP/ls.json" "$TMP/stat.kernel" 2>&1; head -n 3 "$TMP/ls.err")"
	rm -rf "$room/out"
	mkdir "$room/out"
	"$FSASSAY" extract "${rt[@]}" "$img" 2>"$TMP/extract.err" | tar -C "$room/out" --xattrs --xattrs-include='*' -xpf - 2>>"$TMP/extract.err"
	result "$name extract" "$(diff -r --no-dereference "$room/tree" "$room/out" 2>&1 | grep -v 'is a \(character\|block\) special file\|is a fifo' |
		head -n 3; (cd "$room/tree" && getfattr -dhR -m - -e hex . | sort) >"$TMP/x1"; (cd "$room/out" && getfattr -dhR -m - -e hex . | sort) >"$TMP/x2"
		cmp "$TMP/x1" "$TMP/x2" 2>&1; head -n 3 "$TMP/extract.err")"
	rm -rf "$room/out" "$room/tree"
	[ -n "${KEEP:-}" ] || rm -f "$img" "$TMP/rt.img"
}

forks forks 400M "fill share" -m rmapbt=1
[ -n "${FSA_LONG:-}" ] || [ "$chosen" != "  " ] || exit 0
forks plain 400M "fill share"
forks block-1k 400M "fill share" -b size=1024 -m rmapbt=1
forks block-2k 400M "fill share" -b size=2048
forks nrext64 400M "fill share" -i nrext64=1
forks dir-64k 400M "fill" -n size=64k
forks dir-16k-1k 400M "fill" -b size=1024 -n size=16k
forks inode-2k 400M "fill share" -i size=2048
forks sparse 320M "sparse" -m rmapbt=1
forks sparse-1k 320M "sparse" -b size=1024
forks fragmented-plain 320M "sparse" -m finobt=0,reflink=0,inobtcount=0 -i sparse=0
forks fragmented-finobt 320M "sparse" -m reflink=0
mount=uquota,gquota,pquota forks quota 400M "fill"
realtime=1 forks realtime 400M "fill" -m reflink=0,rmapbt=0 -d rtinherit=1
