#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# seeds_btrfs.sh DIR: small btrfs images of different layouts. mkfs.btrfs makes them of many megabytes; btrfs_squeeze.py takes out
# what is not used. Where the running kernel can mount one there are subvolumes, snapshots, reflinks and every compression;
# mkfs.btrfs alone fills the others.
set -u
dir=$1
here=$(cd "$(dirname "$0")" && pwd)
PATH=$PATH:/usr/sbin:/sbin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p root/dir mnt
head -c 300 /dev/zero | tr '\0' a >root/small
head -c 9000 /dev/zero | tr '\0' b >root/big
head -c 3000 /dev/urandom >root/random
ln root/small root/dir/second
ln -s target root/link
for k in $(seq 30); do : >"root/dir/entry-number-$k"; done
setfattr -n user.comment -v "some words" root/small 2>/dev/null

squeeze() { # NAME [WORD...]
	local name=$1
	shift
	python3 "$here/btrfs_squeeze.py" image "$dir/$name" "$@" || echo "seeds_btrfs.sh: $name cannot be made" >&2
}
made() { # NAME BYTES MKFS-OPTION...
	local name=$1 bytes=$2
	shift 2
	rm -f image && truncate -s "$bytes" image
	if mkfs.btrfs -q "$@" --rootdir root image >/dev/null 2>&1; then squeeze "$name"; else echo "seeds_btrfs.sh: $name: mkfs.btrfs fails" >&2; fi
}
made mixed 64M --mixed -n 4096
made dup 128M -n 4096 -m dup -d dup
made single 128M -n 4096 -m single -O ^no-holes,^extref,^skinny-metadata -R ^free-space-tree
made node-16k 128M -m single

filled() { # NAME MOUNT-OPTIONS COMMANDS
	export options=$2 commands=$3
	rm -f image && truncate -s 64M image
	mkfs.btrfs -q --mixed -n 4096 image >/dev/null 2>&1 || return
	unshare -m bash -e -c '
		mount --make-rprivate /
		mount -o "loop,$options" image mnt
		trap "cd /; umount \"$PWD/mnt\"" EXIT
		cp -a root/. mnt
		cd mnt
		eval "$commands"
		sync -f .' >/dev/null 2>&1 || { echo "seeds_btrfs.sh: $1 cannot be filled" >&2; return; }
	squeeze "$1"
	squeeze "$1-no-sums" no-sums
}
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null && { grep -qw btrfs /proc/filesystems || modprobe btrfs 2>/dev/null; }; then
	filled snapshots noatime 'btrfs subvolume create s; cp big s; btrfs subvolume snapshot s t; btrfs subvolume snapshot -r t s/u
		echo new >t/big; cp --reflink=always big copy; dd if=/dev/urandom of=copy bs=4096 count=1 seek=1 conv=notrunc
		fallocate -l 32K wide; truncate -s 1M far; btrfs quota enable .; btrfs subvolume set-default s'
	for c in zlib lzo zstd; do
		filled "$c" "noatime,compress-force=$c" 'cp big again; seq 3000 >seq; head -c 40000 /dev/zero >zero; dd if=/dev/urandom of=seq bs=4096 count=1 conv=notrunc'
	done
	filled inline-none noatime,max_inline=0,nodatasum 'cp small more; rm random'
fi
