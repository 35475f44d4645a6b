# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# The healthy images that damage is done to, made in process by mkfs.xfs, and how to do it.
# Images below 300 MB are allowed to the format's own tests only, which say so by these.
export TEST_DIR=1 TEST_DEV=1 QA_CHECK_FS=1

make_bases() {
	local k
	head -c 300 /dev/zero | tr '\0' a >small
	head -c 50000 /dev/zero | tr '\0' b >big
	{
		echo /dev/null
		echo 0 0
		echo d--755 0 0
		echo "one ---644 1 2 $PWD/small"
		echo "two ---600 3 4 $PWD/big"
		echo "link l--777 0 0 target"
		echo "dir d--755 0 0"
		echo "inner ---644 0 0 $PWD/small"
		echo '$'
		echo "many d--755 0 0"
		for k in $(seq 100); do echo "entry-number-$k ---644 0 0 $PWD/small"; done
		echo '$'
		echo "crowd d--755 0 0"
		for k in $(seq 600); do echo "entry-number-$k p--644 0 0"; done
		echo '$'
		echo '$'
	} >proto
	truncate -s 32M v5
	truncate -s 32M v4
	mkfs.xfs -q -f -m rmapbt=1 -d agcount=2 -p proto v5 >/dev/null 2>&1 && mkfs.xfs -q -f -m crc=0 -d agcount=2 -p proto v4 >/dev/null 2>&1
}

# db COMMAND...: by xfs_db, expert mode. `write -d` keeps checksums right, so that the damage itself must be seen.
db() {
	local words=() command
	for command in "$@"; do words+=(-c "$command"); done
	xfs_db -x "${words[@]}" "$IMAGE"
}
