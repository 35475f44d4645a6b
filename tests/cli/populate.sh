#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Every option of populate does what the manual says; what makes no sense is a usage error; existing files are kept.
set -u
. "$(dirname "$0")/common.bash"
needs mke2fs mkfs.btrfs dumpe2fs python3
export TMPDIR=$TMP
out=$TMP/made
mkdir "$out"
img=$out/a.img

# fill OPTION...: a small image by the library, $img; its report is $TMP/report.
fill() {
	"$FSASSAY" populate --fs ext4 --engine lib --collection size-1K --files 20 "$@" "$img" >"$TMP/report" 2>"$TMP/err" || cat "$TMP/err"
}
# field EXPRESSION: of the manifest m.
field() {
	python3 -c "import json, sys; m = json.load(open(sys.argv[1])); print($1)" "${2:-$img.manifest.json}"
}
super() { # what dumpe2fs says behind a word
	dumpe2fs -h "$img" 2>/dev/null | sed -n "s/^$1: *//p"
}
gone() { rm -f "$img" "$img.manifest.json"; }

fill --size 48M --block-size 1024 -O ^resize_inode --mkfs-options '-L "two words" -m 0 -N 1'\''0'\''00 -E "root_owner=5:6"' --seed 7 --sync-every 6
same size "$((48 << 20))" "$(stat -c %s "$img")"
same block-size 1024 "$(super 'Block size')"
same features "" "$(super 'Filesystem features' | grep -ow resize_inode)"
same mkfs-options-quoted "two words 0" "$(super 'Filesystem volume name') $(super 'Reserved block count')"
same mkfs-command "mke2fs -q -F -t ext4 -b 1024 -O ^resize_inode -L 'two words' -m 0 -N 1000 -E root_owner=5:6 a.img" "$(field "m['mkfs_command']")"
same seed-sync-files "7 6 20" "$(field "m['seed'], m['sync_every'], m['files']" | tr -d '(),')"
same collection "size-1K 1000" "$(field "m['collection'], [e['size'] for e in m['entries'] if e['type'] == 'file'][5]" | tr -d "(),'")"
digests=$(field "sorted(e.get('sha256', '') for e in m['entries'])")
gone
fill --seed 8
[ "$digests" != "$(field "sorted(e.get('sha256', '') for e in m['entries'])")" ] && echo "ok seed-changes" || echo "not ok seed-changes: the same contents"
gone
fill --seed 7 --features ^resize_inode
same seed-repeats "$digests" "$(field "sorted(e.get('sha256', '') for e in m['entries'])")"
gone
fill --seed 7 --file-size 3K
same file-size 3072 "$(field "{e['size'] for e in m['entries'] if e['type'] == 'file'}" | tr -d '{}')"
check report "the report does not say engine and reason" grep -q "by engine lib: as asked for" "$TMP/report"

# Nothing is replaced unasked, neither image nor manifest nor log.
before=$(cksum <"$img")
exits keeps-image 2 "$FSASSAY" populate --fs ext4 --engine lib --collection size-1K --files 20 "$img"
check keeps-image-says "the name is missing" grep -q "a.img: exists already" "$TMP/err"
same keeps-image-bytes "$before" "$(cksum <"$img")"
rm "$img"
exits keeps-manifest 2 "$FSASSAY" populate --fs ext4 --engine lib --collection size-1K --files 20 "$img"
check keeps-manifest-says "the name is missing" grep -q "a.img.manifest.json: exists already" "$TMP/err"
same keeps-manifest-alone "a.img.manifest.json" "$(ls -A "$out")"
fill --force --manifest "$out/other"
same manifest "a.img a.img.manifest.json other" "$(ls -A "$out" | tr '\n' ' ' | sed 's/ $//')"
rm -f "$img.manifest.json"
fill --force --no-manifest
same no-manifest "a.img other" "$(ls -A "$out" | tr '\n' ' ' | sed 's/ $//')"
fill --force --files 21
same force 21 "$(field "m['files']")"
mkdir "$out/directory"
exits keeps-directory 2 "$FSASSAY" populate --force --fs ext4 --engine lib --collection size-1K --files 20 "$out/directory"
rm -f "$out/other"
gone

fill --log-device "$out/log" --log-size 8M
same log-size "$((8 << 20))" "$(stat -c %s "$out/log")"
same log-device "log" "$(field "m['log_image']")"
check log-device-audit "audit does not find the journal" "$FSASSAY" audit -o purpose --journal-device "$out/log" "$img" >/dev/null
before=$(cksum <"$out/log")
gone
exits keeps-log 2 "$FSASSAY" populate --fs ext4 --engine lib --collection size-1K --files 20 --log-device "$out/log" "$img"
same keeps-log-alone "$before directory log" "$(cksum <"$out/log") $(ls -A "$out" | tr '\n' ' ' | sed 's/ $//')"
rm -f "$out/log"

"$FSASSAY" populate --json --fs ext4 --engine lib --collection size-1K --files 20 "$img" >"$TMP/report"
same json "lib 20 all mkfs sync write" "$(field "m['engine'], m['files'], m['times_kept'], *sorted(m['times'])" "$TMP/report" | tr -d "(),'")"
gone

# What makes no sense.
try() { # NAME STATUS WORDS OPTION...
	local name=$1 status=$2 words=$3
	shift 3
	exits "$name" "$status" "$FSASSAY" populate "$@"
	check "$name-says" "standard error is $(head -c 200 "$TMP/err")" grep -qe "$words" "$TMP/err"
	same "$name-leaves" "directory" "$(ls -A "$out")"
}
try no-fs 3 "needed" --collection mixed "$img"
try no-output 3 "OUTPUT" --fs ext4 --collection mixed
try two-outputs 3 "OUTPUT" --fs ext4 --collection mixed "$img" "$img.2"
try bad-fs 3 "ntfs: no such filesystem" --fs ntfs --collection mixed "$img"
try bad-collection 3 "all: there is no such" --fs ext4 --collection all "$img"
try bad-engine 3 "'magic' makes no sense" --fs ext4 --collection mixed --engine magic "$img"
try bad-size 3 "'0' makes no sense" --fs ext4 --collection mixed --size 0 "$img"
try bad-files 3 "'-1' makes no sense" --fs ext4 --collection mixed --files -1 "$img"
try bad-timeout 3 "'soon' makes no sense" --fs ext4 --collection mixed --timeout soon "$img"
try file-size-of-mixed 3 "no one file size" --fs ext4 --collection mixed --file-size 3K "$img"
try block-size-of-jfs 3 "no choice of block size" --fs jfs --collection mixed --block-size 4096 "$img"
try features-of-jfs 3 "has no -O" --fs jfs --collection mixed -O x "$img"
try log-of-btrfs 3 "external log" --fs btrfs --collection mixed --log-device "$out/log" "$img"
try device-of-ext4 3 "one device only" --fs ext4 --collection mixed --device "$out/b" "$img"
try device-twice 3 "one file cannot be two" --fs btrfs --collection mixed --device "$out/b" --device "$out/b" "$img"
try device-is-image 3 "one file cannot be two" --fs btrfs --collection mixed --device "$img" "$img"
# shellcheck disable=SC2046
try devices-too-many 3 "at most 14 times" --fs btrfs --collection mixed $(printf -- "--device $out/%d " $(seq 15)) "$img"
try open-quote 2 "cannot be split" --fs ext4 --collection mixed --engine lib --mkfs-options 'a "b' "$img"
try bad-mkfs-option 2 "mke2fs failed" --fs ext4 --collection mixed --engine lib --mkfs-options '-Z' "$img"
try mount-options-of-lib 2 "nothing is mounted" --fs ext4 --collection mixed --engine lib --mount-options noatime "$img"
try mount-type-of-lib 2 "nothing is mounted" --fs ext4 --collection mixed --engine lib --mount-type ext2 "$img"
try device-of-lib 2 "one device only\|needs root" --fs btrfs --collection mixed --engine lib --device "$out/b" "$img"
try library-of-jfs 2 "no library fills jfs" --fs jfs --collection mixed --engine lib "$img"

# Of a kernel, where there is one.
if [ "$(id -u)" = 0 ] && [ -e /dev/loop-control ] && unshare -m true 2>/dev/null; then
	engine=host
elif command -v linux.uml >/dev/null; then
	engine=uml
else
	engine=
	echo "skip mount options: no kernel to mount with"
fi
if [ -n "$engine" ]; then
	fill --engine $engine --mount-type ext4 --mount-options noatime,nodelalloc
	same mount "ext4 noatime,nodelalloc" "$(field "m['mount_type'], m['mount_options']" | tr -d "()'" | sed 's/, / /')"
	gone
	try mount-type 2 "does not mount it" --fs ext4 --collection size-1K --engine $engine --mount-type nonesuch "$img"
fi

# Each option is in some test.
while IFS=$'\t' read -r long short _; do
	case $long in --help | --version) continue ;; esac # agreement.sh
	grep -qE -e "populate.*$long\b|^(fill|try) .*($long\b| $short )|$long " "$0" "$TOP"/tests/oracle/*.sh ||
		echo "not ok option-tested: $long is in no test"
done < <("$FSASSAY" populate --list-options)
echo "ok options-tested"
