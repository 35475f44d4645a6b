#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Blocks larger than a page of most machines, which few kernels mount, and directory blocks of 64k: filled by mkfs.xfs from a
# prototype (attributes by xfs_db), beside xfs_repair, xfs_db's owner of every block and free space, and what the prototype says.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.xfs xfs_repair xfs_db
cd "$TMP" || exit 1
python3 "$TOP/tests/oracle/xfs_proto.py" make >proto || { echo "not ok $test_name: no prototype"; exit 1; }

large() { # NAME MKFS-OPTION...
	local name=$1 image=$1.img out
	shift
	rm -f "$image"
	truncate -s 640M "$image"
	# A long symbolic link in a prototype is one thing that mkfs.xfs 6.1 writes wrongly; there is none in it.
	out=$(mkfs.xfs -q -f "$@" -p proto "$image" 2>&1) || { result "$name mkfs" "$out"; return; }
	# 6.1's attr_set makes attributes in the inode, in a leaf, and with values in blocks of their own.
	out=$(xfs_db -x -c 'path /attributes' -c 'attr_set -v 60 one' -c 'attr_set -r -v 9000 two' -c 'attr_set -v 65000 three' "$image" 2>&1) ||
		{ result "$name attributes" "$out"; return; }
	result "$name xfs_repair" "$(xfs_repair -n "$image" >repair.log 2>&1 || tail -n 3 repair.log)"
	result "$name contents" "$(python3 "$TOP/tests/oracle/xfs_proto.py" compare "$image" 2>&1)"
	result "$name blockget" "$(python3 "$TOP/tests/oracle/xfs_blocks.py" "$image" 2>&1)"
	rm -f "$image"
}

large 16k -b size=16384 -m rmapbt=1
large 16k-dir-64k -b size=16384 -n size=65536 -m rmapbt=1
large 32k-v4 -b size=32768 -m crc=0,finobt=0 -n ftype=0
large 64k -b size=65536 -m rmapbt=1
large 64k-plain -b size=65536 -m reflink=0,finobt=0,inobtcount=0 -i sparse=0
large 64k-v4 -b size=65536 -m crc=0
large 4k-dir-64k -n size=65536 -m rmapbt=1
large 512-dir-64k -b size=512 -n size=65536 -m crc=0
