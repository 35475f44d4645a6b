#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 120
# Parts of extents that overwrites leave behind, made on purpose: front, middle, back, and one that a snapshot still holds;
# reflinks, a deleted subvolume. The bytes are known, so the ledger must say exactly them.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.btrfs btrfs losetup unshare
can_mount btrfs || { echo "skip btrfs_unreferenced: root and a kernel with btrfs are needed"; exit 0; }

# case NAME WANT-UNREFERENCED COMMANDS: run in the mounted root; the last argument's bytes are those nobody refers to.
unreferenced() {
	local name=$1 want=$2
	export commands=$3 image=$TMP/u.img
	rm -f "$image" && truncate -s 200M "$image" && mkfs.btrfs -q -m single "$image" >"$TMP/fill.log" 2>&1
	unshare -m bash -e -c '
		mount --make-rprivate /
		mkdir -p "$TMP/mnt"
		mount -o loop,noatime,nodatasum "$image" "$TMP/mnt"
		w() { head -c $(($3 * 4096)) /dev/urandom | dd of="$1" bs=4096 seek="$2" conv=notrunc status=none; sync -f .; }
		cd "$TMP/mnt"; eval "$commands"; sync -f .; cd /; umount "$TMP/mnt"' >>"$TMP/fill.log" 2>&1 ||
		{ result "$name fill" "$(tail -n 3 "$TMP/fill.log")"; return; }
	result "$name" "$("$FSASSAY" audit -J "$image" | python3 -c '
import json, sys
a = json.load(sys.stdin)["images"][0]
have = [d["bytes"] for p in a["ledger"] for d in p["details"] if d["name"].startswith("parts of extents")]
if have != [int(sys.argv[1])]:
    print(have, "and not", sys.argv[1])
if a["findings"] or a["reconciliation"]["lost_blocks"] or a["bridge"]["unexplained_bytes"]:
    print(a["findings"][:3], a["reconciliation"], a["bridge"]["unexplained_bytes"])' "$want" 2>&1)"
}

unreferenced nothing 0 'w f 0 100'
unreferenced front 40960 'w f 0 100; w f 0 10'
unreferenced middle 81920 'w f 0 100; w f 30 20'
unreferenced back 20480 'w f 0 100; w f 95 5'
unreferenced several $((12 * 4096)) 'w f 0 100; w f 1 2; w f 50 3; w f 93 7'
unreferenced punched $((10 * 4096)) 'w f 0 100; fallocate -p -o 40960 -l 40960 f'
unreferenced truncated $((60 * 4096)) 'w f 0 100; truncate -s 163840 f'
unreferenced wholly-overwritten 0 'w f 0 100; w f 0 100'
unreferenced snapshot-holds 0 'btrfs subvolume create s; w s/f 0 100; btrfs subvolume snapshot s t; w s/f 0 10'
unreferenced snapshot-also-overwritten 20480 'btrfs subvolume create s; w s/f 0 100; btrfs subvolume snapshot s t; w s/f 0 10; w t/f 0 5'
unreferenced reflink-holds 0 'w f 0 100; cp --reflink=always f g; w f 0 10'
unreferenced reflink-of-a-part $((70 * 4096)) 'w f 0 100; cp --reflink=always f g; truncate -s 40960 f; truncate -s 122880 g'
unreferenced subvolume-deleted 0 'btrfs subvolume create s; w s/f 0 100; w s/f 0 10; btrfs subvolume delete -c s; btrfs subvolume sync .'
