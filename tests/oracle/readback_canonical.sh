#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# What tar of each format should be, byte for byte, made anew of what a kernel shows of the mounted image: the digest of
# the tar pass is that of the same archive made by somebody else. Where the running kernel has no driver it is that of
# user-mode Linux; for Reiser4, which no kernel has, it is made of the manifest.
# GNU tar finds nothing to complain of when it compares the archive with the mounted tree.
. "$(dirname "$0")/lib.sh"
need python3 tar xxhsum
[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "skip $test_name: needs root"; exit 0; }
chosen=" $* "
export FSASSAY

wanted() { [ "$chosen" = "  " ] || case $chosen in *" $1 "*) ;; *) return 1 ;; esac; }

# digests NAME: that of $TMP/canonical and that of the pass, and their sizes.
digests() {
	local name=$1 theirs ours
	theirs="$(stat -c %s "$TMP/canonical") $(xxhsum -H2 - <"$TMP/canonical" 2>/dev/null | cut -d' ' -f1)"
	ours=$("$FSASSAY" readback --tar -b -n "$TMP/$name.img" 2>/dev/null | awk '{ print $6, $NF }')
	result "$name digest of the tar pass" "$([ "$theirs" = "$ours" ] || echo "$ours and not $theirs")"
}

# With -b 64 GNU tar pads to the same, and reads what it compares; large holes would take it minutes.
differences='(cd "$2" && find . -xdev -size +1G) >"$1.large"
	tar -d -b 64 -f "$1" -C "$2" --no-wildcards --exclude-from="$1.large" 2>&1 |
	grep -a -v -e hdrcharset -e "time stamp" | head -n 4 | tr -cd "[:print:]\n"'

mounted() { # NAME TYPE
	local name=$1 type=$2 out
	can_mount "$type" || { echo "skip $name: no $type to mount with"; return 1; }
	mkdir -p "$TMP/mnt"
	out=$(unshare -m bash -c 'mount -o loop,ro -t "$2" "$3.img" "$1/mnt" || exit 1
		python3 "$4/tests/oracle/canonical_tar.py" "$3.tar" "$1/mnt" >"$1/canonical" 2>"$1/said" || tail -n 3 "$1/said"' \
		bash "$TMP" "$type" "$TMP/$name" "$TOP" 2>&1)
	result "$name canonical tar" "$out"
	out=$(unshare -m bash -c 'mount -o loop,ro -t "$2" "$3.img" "$1/mnt" || exit 1
		set -- "$3.tar" "$1/mnt"; '"$differences" bash "$TMP" "$type" "$TMP/$name" 2>&1)
	result "$name tar -d" "$out"
}

# under_uml NAME TYPE OPTIONS BLOCK-SIZE
under_uml() {
	local name=$1 init=$TMP/$1.init
	command -v linux.uml >/dev/null || { echo "skip $name: no user-mode Linux"; return 1; }
	cat >"$init" <<-Y
		#!/bin/bash
		export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 FSASSAY=none
		mount -t proc proc /proc
		mount -t tmpfs tmpfs /mnt
		mkdir /mnt/m /mnt/dev
		mknod /mnt/dev/ubdb b 98 16
		mount -t $2 -o ro$3 /mnt/dev/ubdb /mnt/m || echo CANNOT-MOUNT
		python3 "$TOP/tests/oracle/canonical_tar.py" "$TMP/$name.tar" /mnt/m --holes "$TMP/$name.img.manifest.json" $4 \
			>"$TMP/canonical" 2>"$TMP/said" && echo CANONICAL
		set -- "$TMP/$name.tar" /mnt/m
		{ $differences; } >"$TMP/differences"
		umount /mnt/m
		echo o >/proc/sysrq-trigger
		sleep 9
	Y
	chmod +x "$init"
	LD_PRELOAD=$BUILD/uml_ptrace.so timeout 150 linux.uml mem=256M root=/dev/root rootfstype=hostfs rootflags=/ rw init="$init" \
		con=null con0=fd:0,fd:1 quiet ubdb="$TMP/$name.img" </dev/null >"$TMP/log" 2>&1
	result "$name canonical tar" "$(grep -q CANONICAL "$TMP/log" || tail -n 3 "$TMP/said" "$TMP/log")"
	result "$name tar -d" "$(cat "$TMP/differences" 2>&1)"
}

layout() { # NAME TYPE MOUNT-OPTIONS POPULATE-OPTION...
	local name=$1 type=$2 options=$3
	shift 3
	wanted "$name" || return
	command -v "mkfs.$type" >/dev/null || { echo "skip $name: no mkfs.$type"; return; }
	make_image "$name" --fs "$type" --collection mixed --files 10 "$@" || return
	"$FSASSAY" extract "$TMP/$name.img" >"$TMP/$name.tar" 2>/dev/null
	case $type in
	reiserfs | jfs) under_uml "$name" "$type" "$options" 4096 ;;
	*) mounted "$name" "$type" ;;
	esac && digests "$name"
	rm -f "$TMP/$name.tar" "$TMP/canonical"
	drop_image "$name"
}

: "${BUILD:=$TOP/build}"
layout ext4 ext4 ""
layout xfs xfs ""
layout btrfs btrfs ""
layout reiserfs reiserfs ,user_xattr,acl
layout jfs jfs ""

reiser4() {
	local m=$TMP/reiser4.img.manifest.json
	command -v mkfs.reiser4 >/dev/null || { echo "skip reiser4: no mkfs.reiser4"; return; }
	ENGINE=lib make_image reiser4 --fs reiser4 --collection mixed --files 10 --size 200M || return
	"$FSASSAY" extract "$TMP/reiser4.img" >"$TMP/reiser4.tar" 2>/dev/null
	result "reiser4 canonical tar" "$(python3 "$TOP/tests/oracle/canonical_tar.py" "$TMP/reiser4.tar" . --holes "$m" 4096 --facts "$m" \
		2>&1 >"$TMP/canonical" | grep -v ' members, ')"
	digests reiser4
}
! wanted reiser4 || reiser4
