#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# seeds_xfs.sh DIR: small XFS images of different layouts. An allocation group has 16 MiB at least; what is made here lies at the
# start of the first, so the images are cut off behind it: a short image is one more thing to live with.
set -u
dir=$1
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Images below 300 MB are allowed to the format's own tests only, which say so by these.
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1
cd "$work" || exit 1
head -c 300 /dev/zero | tr '\0' a >small
head -c 9000 /dev/zero | tr '\0' b >big
{
	echo /dev/null
	echo 0 0
	echo d--755 0 0
	echo "file ---644 1 2 $work/small"
	echo "big ---600 3 4 $work/big"
	echo "link l--777 0 0 target"
	echo "long l--777 0 0 $(head -c 600 /dev/zero | tr '\0' l)"
	echo "fifo p--644 0 0"
	echo "char c--644 0 0 5 1"
	echo "dir d--755 0 0"
	echo "inner ---644 0 0 $work/small"
	echo '$'
	echo "many d--755 0 0"
	for k in $(seq 60); do echo "entry-number-$k p--644 0 0"; done
	echo '$'
	echo '$'
} >proto
seed() { # NAME BYTES MKFS-OPTION...
	local name=$1 bytes=$2
	shift 2
	truncate -s 32M image
	if mkfs.xfs -q -f "$@" -p proto image >/dev/null 2>&1; then
		head -c "$bytes" image >"$dir/$name"
	else
		echo "seeds_xfs.sh: $name cannot be made" >&2
	fi
	rm -f image
}
seed v5 300K
seed v5-rmap 400K -m rmapbt=1
seed v5-1k 400K -b size=1024 -m rmapbt=1
seed v5-nrext64 300K -i nrext64=1
seed v5-plain 300K -m finobt=0,reflink=0,inobtcount=0,bigtime=0 -i sparse=0
seed v4 200K -m crc=0
seed v4-512 200K -m crc=0 -b size=512
seed v4-ci 200K -m crc=0 -n version=ci,ftype=0
seed v4-dir 200K -m crc=0 -b size=1024 -n size=4k
# A directory with a hash tree, extents in a tree and attributes in leaves: what the prototype cannot make.
truncate -s 32M image
if mkfs.xfs -q -f -m crc=0 -b size=1024 -p proto image >/dev/null 2>&1; then
	xfs_db -x -c 'path /file' -c 'attr_set -v 60 one' -c 'attr_set -r -v 900 two' -c 'attr_set -v 100 three' image >/dev/null 2>&1
	head -c 200K image >"$dir/v4-attr"
fi
truncate -s 32M image
if mkfs.xfs -q -f -m rmapbt=1 -b size=1024 -p proto image >/dev/null 2>&1; then
	xfs_db -x -c 'path /file' -c 'attr_set -v 60 one' -c 'attr_set -r -v 900 two' -c 'attr_set -v 5000 three' image >/dev/null 2>&1
	head -c 400K image >"$dir/v5-attr"
fi
