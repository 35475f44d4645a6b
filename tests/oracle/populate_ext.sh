#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# populate makes ext images that e2fsck finds clean, with the same tree whichever engine fills them.
set -u
here=$(cd "$(dirname "$0")" && pwd)
compare="$here/populate_manifest.py"
: "${FSASSAY:?the program to test}"
FSASSAY=$(realpath "$FSASSAY")
# In memory where there is room: the filling syncs a lot, and it is not the disk that is tested.
place=${TMPDIR:-/tmp}
[ -w /dev/shm ] && [ "$(df -k --output=avail /dev/shm | tail -n 1)" -gt 1000000 ] && place=/dev/shm
work=$(mktemp -d "$place/populate-test-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
PATH=$PATH:/usr/sbin:/sbin

result() { # NAME WHY: ok when WHY is empty
	if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1: $(printf %s "$2" | tr '\n' ' ')"; fi
}

for tool in python3 e2fsck mke2fs; do
	command -v $tool >/dev/null || { echo "skip populate_ext: $tool is not installed"; exit 0; }
done
engines=lib
if command -v linux.uml >/dev/null; then engines="$engines uml"; else echo "skip populate_ext uml: user-mode Linux is not installed"; fi
can_mount=
if [ "$(id -u)" = 0 ] && [ -e /dev/loop-control ] && unshare -m true 2>/dev/null; then
	engines="$engines host"; can_mount=yes
else
	echo "skip populate_ext host: it needs root and loop devices"
fi

clean() { # IMAGE [E2FSCK-OPTIONS]: prints complaints
	local image=$1 out rc
	shift
	out=$(e2fsck -fn "$@" "$image" 2>/dev/null)
	rc=$?
	out=$(printf '%s\n' "$out" | grep -v -e '^Pass [1-5]' -e ' files (.*non-contiguous), ' -e '^$')
	[ $rc = 0 ] && [ -z "$out" ] || echo "e2fsck exit status $rc $(printf %s "$out" | head -n 3)"
}

tree() { # IMAGE: prints differences of the mounted tree
	unshare -m sh -c 'mount -o loop,ro "$1" /mnt 2>/dev/null || { echo "cannot be mounted"; exit; }
		python3 "$2" tree "$1.manifest.json" /mnt' - "$1" "$compare" 2>&1
}

run() { # NAME ENGINES OPTIONS...: one layout with some engines
	local name=$1 wanted=$2 engine image out made=
	shift 2
	for engine in $wanted; do
		case " $engines " in *" $engine "*) ;; *) continue ;; esac
		image=$name.$engine.img
		if ! out=$("$FSASSAY" populate --collection mixed --engine "$engine" --files 100 "$@" "$image" 2>&1); then
			result "populate_ext $name $engine" "${out:0:300}"
			continue
		fi
		result "populate_ext $name $engine clean" "$(clean "$image")"
		# What a kernel wrote it has compared itself; what a library wrote nobody has.
		if [ "$engine" = lib ] && [ -n "$can_mount" ]; then
			case $name in
			quota) ;; # not every kernel mounts it
			*) result "populate_ext $name $engine tree" "$(tree "$image")" ;;
			esac
		fi
		made="$made $image.manifest.json"
		rm -f "$image"
	done
	# shellcheck disable=SC2086
	set -- $made
	[ $# -lt 2 ] || result "populate_ext $name same tree" "$(python3 "$compare" same "$@" 2>&1)"
}

run ext2-1k "lib uml host" --fs ext2 --block-size 1024
run ext2-4k "lib host" --fs ext2 --block-size 4096
run ext3 "lib uml host" --fs ext3
run ext4 "lib uml host" --fs ext4
run inline "lib uml host" --fs ext4 -O inline_data
run inline-1024 "lib host" --fs ext4 -O inline_data --mkfs-options "-I 1024 -b 4096"
run bigalloc "lib host" --fs ext4 -O bigalloc --mkfs-options "-C 16384" --block-size 4096
run meta_bg "lib host" --fs ext4 -O meta_bg,^resize_inode
run sparse_super2 "lib host" --fs ext4 -O sparse_super2
run inode-128 "lib host" --fs ext4 -O ^64bit,^flex_bg,^metadata_csum --mkfs-options "-I 128"
run no-journal "lib host" --fs ext4 -O ^has_journal
run quota "lib uml" --fs ext4 -O quota,project --mkfs-options "-E quotatype=usrquota:grpquota:prjquota"
run ea_inode "lib uml host" --fs ext4 -O ea_inode,large_dir
run mmp "lib host" --fs ext4 -O mmp
run revision-0 "lib host" --fs ext2 --mkfs-options "-r 0"

# An external journal is a second image.
for engine in $engines; do
	out=$("$FSASSAY" populate --fs ext4 --collection mixed --files 50 --engine "$engine" --force \
		--log-device journal.img --log-size 16M j.img 2>&1) ||
		{ result "populate_ext external journal $engine" "${out:0:300}"; continue; }
	result "populate_ext external journal $engine" "$(clean j.img -j journal.img)"
done

# The same command, the same manifest; nothing is replaced unasked; nothing is left of a failure.
for i in 1 2; do
	"$FSASSAY" populate --fs ext4 --collection size-1K --files 200 --engine lib s$i.img >/dev/null 2>&1
done
result "populate_ext repeatable" "$(python3 "$compare" same s1.img.manifest.json s2.img.manifest.json 2>&1)"
before=$(cksum s1.img)
"$FSASSAY" populate --fs ext4 --collection size-1K --files 10 --engine lib s1.img >/dev/null 2>&1
status=$?
[ $status = 2 ] && [ "$before" = "$(cksum s1.img)" ] && why= || why="status $status"
result "populate_ext keeps an existing image" "$why"
mkdir tmp
TMPDIR=$work/tmp "$FSASSAY" populate --fs ext4 --collection size-1M --files 100 --size 16M --engine lib full.img >/dev/null 2>&1
status=$?
left=$(ls -A tmp; find . -name 'full.img*' -o -name '.fsassay-*')
[ $status = 2 ] && [ -z "$left" ] && why= || why="status $status, left: $left"
result "populate_ext full filesystem fails and leaves nothing" "$why"
"$FSASSAY" populate --fs nonesuch --collection mixed u.img >/dev/null 2>&1
status=$?
[ $status = 3 ] && why= || why="status $status"
result "populate_ext unknown filesystem is a usage error" "$why"
exit 0
