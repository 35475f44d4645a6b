#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# populate with more than one image: btrfs over several devices, and logs of their own for XFS, JFS and ReiserFS, by each
# kernel at hand; mount options of btrfs do what they say. The books close over all images and every figure is the kernel's.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.btrfs btrfs
# A kernel keeps a filesystem's name by its id: two runs over the same images must not meet, so one at a time.
engines=
command -v linux.uml >/dev/null && engines=uml || echo "skip populate_devices uml: user-mode Linux is not installed"
can_mount btrfs && engines="$engines host" || echo "skip populate_devices host: it needs root and loop devices"

# manifest NAME EXPRESSION: complains unless the Python expression on the manifest m holds.
manifest() {
	python3 -c "
import json, sys
m = json.load(open(sys.argv[1]))
print('' if ($2) else {k: v for k, v in m.items() if k not in ('entries', 'kernel', 'not_supported')})" "$TMP/$1.img.manifest.json"
}

several() { # NAME ENGINE DEVICES OPTION...
	local name=$1 engine=$2 count=$3 more=() i
	shift 3
	for ((i = 2; i <= count; i++)); do more+=(--device "$TMP/$name-$i.img"); done
	ENGINE=$engine make_image "$name" --fs btrfs --collection mixed --files 40 --size 160M "${more[@]}" "$@" || return
	# What df shows of several devices is the kernel's own matter where versions differ: btrfs.sh compares that.
	CHECKS=audit,ls,payload,figures,map,extract check_image "$name" "${more[@]}"
	result "$name manifest" "$(manifest "$name" "m['device_images'] == ['$name-%d.img' % i for i in range(2, $count + 1)]
		and m['engine'] == '$engine' and m['mkfs_command'].split()[-$count:] == ['$name.img'] + m['device_images']")"
	# One of them alone is not the whole of it.
	"$FSASSAY" audit "$TMP/$name.img" >"$TMP/alone" 2>&1
	status=$?
	[ $status = 1 ] || [ $status = 2 ] && why= || why="status $status"
	result "$name alone" "$why"
	rm -f "$TMP/$name"*
}

for engine in $engines; do
	several "raid1-$engine" "$engine" 2 --mkfs-options "-d raid1 -m raid1"
done
case " $engines " in *" uml "*)
	several raid0-uml uml 3 --mkfs-options "-d raid0 -m raid1c3" --mount-options noatime,compress-force=lzo ;;
esac
case " $engines " in *" host "*)
	several raid6-host host 4 --mkfs-options "-d raid6 -m raid1c4"
	[ -z "${FSA_LONG:-}" ] || several raid10-host host 4 --mkfs-options "-d raid10 -m raid10 -n 4096" ;;
esac

# Mount options: what each must lead to, by the figures of the audit.
option() { # NAME OPTIONS EXPRESSION
	[ -n "$engines" ] || return
	ENGINE=${engines##* } make_image "$1" --fs btrfs --collection mixed --files 30 ${2:+--mount-options "$2"} || return
	result "option $1" "$("$FSASSAY" audit -J "$TMP/$1.img" 2>&1 | python3 -c "
import json, sys
a = json.load(sys.stdin)['images'][0]
d = {x['name']: x['bytes'] for p in a['ledger'] for x in p['details']}
p = {x['purpose']: x['bytes'] for x in a['ledger']}
i, f = a['inline'], a['figures']
print('' if ($3) else (d, i, f), *(x['message'] for x in a['findings']))" 2>&1)"
	result "option $1 manifest" "$(manifest "$1" "m['mount_options'] == '$2'")"
	drop_image "$1"
}
option plain "" "i['files'] > 0 and p['checksum'] > 0 and not d['compressed file contents']"
option max_inline=0 max_inline=0 "i['files'] == 0 and d['data checksums'] > 0"
option nodatasum nodatasum "d['data checksums'] == 0 and i['files'] > 0"
option compress-force=zlib compress-force=zlib,noatime "d['compressed file contents'] > 0 and d['compressed inline extents'] > 0"
result "option unknown" "$("$FSASSAY" populate --fs btrfs --collection mixed --files 10 --mount-options nonesuch "$TMP/n.img" >"$TMP/said" 2>&1
	[ $? = 2 ] && grep -q 'does not mount it' "$TMP/said" && [ ! -e "$TMP/n.img" ] || cat "$TMP/said")"

# Logs on an image of their own.
logged() { # FS ENGINE OPTION...
	local fs=$1 engine=$2 name=log-$1-$2 log=$TMP/log.img
	shift 2
	ENGINE=$engine make_image "$name" --fs "$fs" --collection mixed --files 40 --log-device "$log" "$@" || return
	if [ "$fs" = reiserfs ]; then
		python3 "$TOP/tests/oracle/reiserfs_items.py" manifest "$TMP/$name.img" "$TMP/$name.img.manifest.json" "$TMP/changed" "$log" &&
			mv "$TMP/changed" "$TMP/$name.img.manifest.json"
	fi
	check_image "$name" --log-device "$log"
	result "$name manifest" "$(manifest "$name" "m['log_image'] == 'log.img' and 'log.img' in m['mkfs_command']")"
	case $fs in
	jfs) result "$name jfs_fsck" "$(jfs_fsck -n -j "$log" "$TMP/$name.img" 2>&1 </dev/null | tee "$TMP/fsck" | grep -q 'is clean' || tail -n 3 "$TMP/fsck")" ;;
	reiserfs) result "$name reiserfsck" "$(reiserfsck --check -y -j "$log" "$TMP/$name.img" 2>&1 </dev/null | grep -q 'No corruptions found' || echo "reiserfsck complains")" ;;
	xfs) result "$name xfs_repair" "$(xfs_repair -n -l "$log" "$TMP/$name.img" >"$TMP/repair.log" 2>&1 || tail -n 3 "$TMP/repair.log")" ;;
	esac
	rm -f "$TMP/$name"* "$log"
}
for engine in $engines; do
	for fs in reiserfs jfs xfs; do
		# Current kernels have neither of the first two.
		[ "$engine" = uml ] || [ $fs = xfs ] || continue
		if command -v mkfs.$fs >/dev/null; then
			logged $fs "$engine"
		else
			echo "skip log-$fs-$engine: mkfs.$fs is not installed"
		fi
	done
done
