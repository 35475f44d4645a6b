#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# What btrfs's own tools say of a mounted filesystem with subvolumes, snapshots of them written to afterwards, reflinks,
# preallocated, compressed and half-overwritten extents: `btrfs filesystem usage -b`, quota groups (referenced and exclusive bytes of
# each subvolume), `btrfs filesystem du`, nodes and items of every tree, and the contents of each subvolume by `extract --subvolume`.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.btrfs btrfs losetup unshare
can_mount btrfs || { echo "skip btrfs_subvolumes: root and a kernel with btrfs are needed"; exit 0; }

# fill NAME COUNT MKFS-WORDS MOUNT-OPTIONS: $TMP/NAME.0 and so on; what the tools say in $TMP/NAME.*
fill() {
	local name=$1 count=$2 words=$3 options=$4
	export name count words options
	unshare -m bash -c '
		mount --make-rprivate /
		devices=() status=1
		for ((i = 0; i < count; i++)); do
			truncate -s 256M "$TMP/$name.$i"
			devices+=("$(losetup -f --show "$TMP/$name.$i")") || exit 1
		done
		mkdir -p "$TMP/mnt"
		filling() {
			set -e
			cd "$TMP/mnt"
			write() { head -c $(($3 * 4096)) /dev/urandom | dd of="$1" bs=4096 seek="$2" conv=notrunc status=none; sync -f .; }
			btrfs subvolume create one
			btrfs subvolume create one/inner
			for i in 1 2 3 4 5 6 7 8 9; do
				mkdir one/d$i
				write one/d$i/random 0 $((i * 40))
				seq $((i * 3000)) >one/d$i/seq
				echo "inline $i" >one/d$i/small
			done
			write one/inner/file 0 100
			for i in $(seq 400); do echo $i >one/inner/a-name-that-is-somewhat-longer-$i; done
			sync -f .
			btrfs subvolume snapshot one two
			btrfs subvolume snapshot -r two one/three
			write two/d1/random 0 10
			write two/d2/random 20 30
			write two/d3/random 115 5
			write one/d3/random 0 5
			rm -r two/d9 one/d8
			cp --reflink=always two/d4/random two/d4/copy
			cp --reflink=always one/d5/random two/d5/copy
			truncate -s 100000 two/d6/random
			fallocate -l 3M two/wide
			truncate -s 5M two/far
			btrfs subvolume snapshot two four
			btrfs subvolume create gone
			write gone/file 0 50
			btrfs subvolume delete -c gone
			btrfs subvolume sync .
			btrfs quota enable .
			btrfs quota rescan -w .
			sync -f .
			btrfs qgroup show --raw . >"$TMP/$name.qgroups"
			id() { btrfs inspect-internal rootid "$1"; }
			du() { echo "$1: $(btrfs filesystem du -s --raw "$2" | tail -n 1)" >>"$TMP/$name.du"; }
			du "$(id one) $(id one/inner) $(id one/three)" one
			du "$(id one/inner)" one/inner
			du "$(id one/three)" one/three
			du "$(id two)" two
			du "$(id four)" four
			for s in one one/inner one/three two four; do
				(cd $s && find . -xdev -type f -exec sha256sum {} + | sort -k 2) >"$TMP/$name.sums.${s////-}"
			done
		}
		if mkfs.btrfs -q $words "${devices[@]}" && mount -o "noatime,$options" "${devices[0]}" "$TMP/mnt"; then
			(filling) && umount "$TMP/mnt" && mount -o noatime "${devices[0]}" "$TMP/mnt" &&
				btrfs filesystem usage -b "$TMP/mnt" >"$TMP/$name.usage" && status=0
			umount "$TMP/mnt"
		fi
		for d in "${devices[@]}"; do losetup -d "$d"; done
		exit $status' >"$TMP/fill.log" 2>&1
}

layout() { # NAME COUNT MKFS-WORDS [MOUNT-OPTIONS]
	local name=$1 count=$2 images=() i s
	fill "$name" "$count" "$3" "${4:-noatime}" || { result "$name fill" "$(tail -n 3 "$TMP/fill.log")"; return; }
	for ((i = 0; i < count; i++)); do images+=("$TMP/$name.$i"); done
	result "$name audit" "$("$FSASSAY" audit "${images[@]}" 2>&1 >/dev/null | head -n 4)"
	result "$name usage" "$(python3 "$TOP/tests/oracle/btrfs_usage.py" usage "$TMP/$name.usage" "${images[@]}" 2>&1)"
	result "$name qgroups" "$(python3 "$TOP/tests/oracle/btrfs_usage.py" qgroups "$TMP/$name.qgroups" "${images[@]}" 2>&1)"
	result "$name du" "$(python3 "$TOP/tests/oracle/btrfs_usage.py" du "$TMP/$name.du" "${images[@]}" 2>&1)"
	[ "$count" -gt 1 ] || result "$name trees" "$(python3 "$TOP/tests/oracle/btrfs_trees.py" "${images[0]}" 2>&1)"
	for s in one one/inner one/three two four; do
		rm -rf "$TMP/out" && mkdir "$TMP/out"
		"$FSASSAY" extract --subvolume "$s" ${images[1]:+--device} ${images[1]:+"${images[1]}"} ${images[2]:+--device} ${images[2]:+"${images[2]}"} \
			"${images[0]}" 2>"$TMP/err" | tar -C "$TMP/out" -xf -
		# The root of a subvolume is what was looked at: what lies below it on other subvolumes is its own.
		result "$name extract $s" "$(cd "$TMP/out" && rm -rf inner three && find . -type f -exec sha256sum {} + | sort -k 2 |
			diff - "$TMP/$name.sums.${s////-}" | head -n 4; head -n 2 "$TMP/err")"
	done
	rm -f "$TMP/$name".*
}

layout default 1 ""
layout packed 1 "--mixed -n 4096 --csum xxhash" compress-force=zstd
layout raid1 2 "-d raid1 -m raid1"
layout raid5 3 "-d raid5 -m raid1" compress-force=lzo
