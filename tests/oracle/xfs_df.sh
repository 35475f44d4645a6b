#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# df of empty filesystems beside what Linux 6.18 was measured to say of them, mounted read-write (blocks, free blocks).
. "$(dirname "$0")/lib.sh"
need mkfs.xfs python3

measured() { # NAME SIZE BLOCKS FREE MKFS-OPTION...
	local name=$1 size=$2 blocks=$3 free=$4
	shift 4
	rm -f "$TMP/empty.img"
	truncate -s "$size" "$TMP/empty.img"
	mkfs.xfs -q -f -K "$@" "$TMP/empty.img" || { result "$name mkfs" fails; return; }
	result "$name df" "$("$FSASSAY" audit -J "$TMP/empty.img" 2>&1 | python3 -c '
import json, sys
image = json.load(sys.stdin)["images"][0]
have = image["df"]["size_kib"] // 4, (image["df"]["size_kib"] - image["df"]["used_kib"]) // 4
want = tuple(map(int, sys.argv[1:]))
if have != want or image["findings"]:
    print(have, "and not", want, image["findings"][:2])
' "$blocks" "$free" 2>&1)"
	rm -f "$TMP/empty.img"
}

measured 10G-default 10G 2605056 2578630
measured 10G-no-reflink 10G 2605056 2594205 -m reflink=0
measured 10G-rmapbt 10G 2605056 2546901 -m rmapbt=1
measured 10G-all-off 10G 2605056 2596808 -m reflink=0,finobt=0,inobtcount=0 -i sparse=0
measured 120G-default 120G 31440896 31213430
