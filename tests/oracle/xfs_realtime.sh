#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# A realtime device, filled by user-mode Linux, whose kernel has support for it: ledger over both devices, df, st_blocks and contents are
# the kernel's, xfs_repair is content, and the bitmap and its summary agree with the extents.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.xfs xfs_repair xfs_db linux.uml
export IMAGE=$TMP/data.img SECOND=$TMP/rt.img MOUNT=$TMP/mnt
mkdir -p "$MOUNT"

# in_uml OPTIONS COMMAND
in_uml() { BUILD=${BUILD##*/} "$TOP/samples/in-uml" xfs "rtdev=/mnt/ubdc,$1" "$2" 2>&1; }

realtime() { # NAME RTEXT MKFS-OPTION...
	local name=$1 extent=$2 out df_rw df_ro
	shift 2
	rm -f "$IMAGE" "$SECOND"
	truncate -s 320M "$IMAGE"
	truncate -s 100M "$SECOND"
	out=$(mkfs.xfs -q -f -m reflink=0,rmapbt=0 -d rtinherit=1 -r "rtdev=$SECOND,extsize=$extent" "$@" "$IMAGE" 2>&1) ||
		{ result "$name mkfs" "$out"; return; }
	out=$(in_uml rw 'cd "$MOUNT"; mkdir d; for i in $(seq 60); do head -c $((i * 5003)) /dev/urandom >d/$i; done
		for i in $(seq 1 3 60); do rm d/$i; done; echo short >one; truncate -s 5M hole; ln -s target link
		perl -e "open(A, q(>), q(apart)); for (1..40) { sysseek(A, \$_ * 65536, 0); syswrite(A, q(a) x 3000) }"
		fallocate -l 1M ahead; sync') || { result "$name fill" "$out"; return; }
	out=$(in_uml ro "stat -f -c '%b %f %a %c %d' '$MOUNT' >'$TMP/df_ro'; find '$MOUNT' -printf '%i %b %n %s %P\n' | sort >'$TMP/stat.kernel'
		cd '$MOUNT'; find . -type f -exec sha256sum {} + >'$TMP/sums'") || { result "$name read" "$out"; return; }
	out=$(in_uml rw "stat -f -c '%b %f %a %c %d' '$MOUNT' >'$TMP/df_rw'") || { result "$name df" "$out"; return; }
	df_ro=$(cat "$TMP/df_ro")
	df_rw=$(cat "$TMP/df_rw")
	result "$name lies there" "$(xfs_db -r -c 'path /apart' -c 'print core.realtime core.nextents' "$IMAGE" 2>&1 | tr '\n' ' ' |
		grep -qx 'core.realtime = 1 core.nextents = [1-9][0-9]* ' || echo 'a file is not on the realtime device')"
	result "$name xfs_repair" "$(xfs_repair -n -r "$SECOND" "$IMAGE" >"$TMP/repair.log" 2>&1 || tail -n 3 "$TMP/repair.log")"
	result "$name audit" "$("$FSASSAY" audit -J --rt-device "$SECOND" "$IMAGE" 2>/dev/null |
		python3 "$TOP/tests/oracle/xfs_audit.py" "$df_rw" "$df_ro" 2>&1)"
	"$FSASSAY" ls -RJ --rt-device "$SECOND" "$IMAGE" >"$TMP/ls.json" 2>"$TMP/ls.err"
	result "$name ls" "$(python3 "$TOP/tests/oracle/xfs_ls.py" "$TMP/ls.json" "$TMP/stat.kernel" 2>&1; head -n 3 "$TMP/ls.err")"
	rm -rf "$TMP/out"
	mkdir "$TMP/out"
	result "$name extract" "$("$FSASSAY" extract --rt-device "$SECOND" "$IMAGE" 2>"$TMP/extract.err" | tar -C "$TMP/out" -xf - 2>&1 | grep -v future
		(cd "$TMP/out" && sha256sum --quiet -c "$TMP/sums" 2>&1 | head -n 3); [ "$(wc -l <"$TMP/sums")" -gt 40 ] || echo 'too few files')"
}

# damage NAME WHAT WANT XFS_DB-COMMAND...: on a copy, of which WANT must be found.
damage() {
	local name=$1 what=$2 want=$3 words=() command
	shift 3
	for command in "$@"; do words+=(-c "$command"); done
	cp --sparse=always "$IMAGE" "$TMP/copy.img"
	xfs_db -x "${words[@]}" "$TMP/copy.img" >/dev/null 2>&1
	result "$name $what" "$("$FSASSAY" audit --rt-device "$SECOND" "$TMP/copy.img" >"$TMP/damaged.out" 2>&1
		grep -q "$want" "$TMP/damaged.out" || { echo "not found: $want:"; grep ': xfs: ' "$TMP/damaged.out" | head -n 3; })"
	rm -f "$TMP/copy.img"
}

realtime 16k 16k
# Words are little-endian and xfs_db writes big-endian ones; the summary's first words count single free extents.
damage 16k summary 'realtime summary counts 2 runs of 2^0 and more free extents that start in block 0 of the bitmap, which has' \
	"fsblock $(xfs_db -r -c 'sb 0' -c 'addr rsumino' -c 'print u3.bmx[0].startblock' "$IMAGE" | sed 's/.*= //')" 'type data' \
	'write fill 0 0 1' 'write fill 2 0 1'
damage 16k counter 'counts 3 free realtime extents, the bitmap has' 'sb 0' 'write -d frextents 3'
realtime 4k-small-blocks 4k -b size=1024
