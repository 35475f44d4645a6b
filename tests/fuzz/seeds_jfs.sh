#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# seeds_jfs.sh DIR: small JFS images. One has 16 MiB at least; what is made here lies at its start, so the images are cut off
# behind it: a short image is one more thing to live with. Only a kernel fills them: without user-mode Linux they are empty.
set -u
dir=$1
PATH=$PATH:/usr/sbin:/sbin
TMP=$(mktemp -d)
export TMP PATH
trap 'rm -rf "$TMP"' EXIT
result() { echo "seeds_jfs.sh: $*" >&2; }
. "$(dirname "$0")/../oracle/jfs_fill_lib.sh"
tree='
mkdir -p dir/sub many; echo 1 >small; echo 3 >dir/sub/deep; ln small dir/hard; ln -s dir/sub link; mkfifo p; mknod c c 5 1
ln -s "$(printf "x%.0s" {1..300})" long; ln -s "$(printf "x%.0s" {1..200})" middle
for i in {1..40}; do : >"many/file $i with a name that takes several slots"; done; rm many/file\ 1*; touch many/Zebra many/yak
: >ea1; setfattr -n user.a -v short ea1; : >ea2; setfattr -n user.b -v "$(printf "v%.0s" {1..300})" ea2
sync; perl -e "open(A, q(>), q(frag)); for (1..18) { sysseek(A, \$_ * 8192, 0); syswrite(A, q(a)) }"
'
seed() { # NAME BYTES SCRIPT MKFS-OPTION...
	local name=$1 bytes=$2 script=$3
	shift 3
	truncate -s 16M "$TMP/$name.img"
	if ! mkfs.jfs -q "$@" "$TMP/$name.img" >/dev/null 2>&1; then
		result "$name cannot be made"
	elif [ -z "$script" ] || { command -v linux.uml >/dev/null && uml_fill "$name" rw "$script"; }; then
		head -c "$bytes" "$TMP/$name.img" >"$dir/$name"
	fi
	rm -f "$TMP/$name".*
}
seed empty 200K ''
seed tree 288K "$tree"
seed os2 288K "$tree" -O
truncate -s 16M "$TMP/log"
mkfs.jfs -q -J journal_dev "$TMP/log" >/dev/null 2>&1 && head -c 12K "$TMP/log" >"$dir/log_device"
