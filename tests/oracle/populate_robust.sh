#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# populate when things go wrong: a signal at any moment, a missing mkfs, a kernel that does not boot or does not end, a
# full disk. It says what it was, and nothing is left: no file, no process, no loop device. Which engine auto takes.
. "$(dirname "$0")/lib.sh"
need python3 mke2fs setsid
out=$TMP/out tmp=$TMP/tmp fake=$TMP/fake
mkdir "$out" "$tmp" "$fake"
mounts=
can_mount ext4 && mounts=yes || echo "skip populate_robust host: it needs root and loop devices"
uml=
command -v linux.uml >/dev/null && uml=yes || echo "skip populate_robust uml: user-mode Linux is not installed"

# leftovers: what should be gone; a loop device may take a moment to go when the last mount has.
leftovers() {
	local found=
	for _ in $(seq 100); do
		found="$(ls -A "$out" "$tmp" | grep -v -e ':$' -e '^$')$(losetup -a 2>/dev/null | grep -F "$TMP")$(pgrep -f "uml_dir=$tmp")"
		[ -n "$found" ] || return
		sleep 0.1
	done
	echo "left: $found"
}

# until_true CONDITION...: polls while $pid lives.
until_true() {
	local i
	for ((i = 0; i < 3000; i++)); do
		"$@" && return
		kill -0 "$pid" 2>/dev/null || return
		sleep 0.02
	done
}

# interrupted NAME SIGNAL CONDITION OPTION...: the signal comes when the condition holds.
interrupted() {
	local name=$1 signal=$2 condition=$3 status
	shift 3
	# A shell lets its background ignore some signals.
	TMPDIR=$tmp env --default-signal setsid "$FSASSAY" populate "$@" "$out/image" >"$TMP/said" 2>&1 &
	pid=$!
	until_true "$condition"
	kill -"$signal" "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	status=$?
	# Done before the signal came: then all of it is there.
	if [ "$status" = 0 ]; then
		result "signal $name came too late" "$([ -s "$out/image" ] && [ -s "$out/image.manifest.json" ] || echo "not all is there")"
		rm -f "$out/image"*
	else
		result "signal $name" "$([ "$status" = $((128 + $(kill -l "$signal"))) ] || echo "status $status: $(cat "$TMP/said")")"
	fi
	result "signal $name leaves nothing" "$(leftovers)"
}

mkfs_runs() { [ -e "$TMP/mkfs-runs" ]; }
files_written() { [ "$(cat "$tmp"/fsassay-*/progress 2>/dev/null)" \> 00000000000000000100 ]; }
boots() { pgrep -f "uml_dir=$tmp" >/dev/null; }
image_grows() { [ "$(du -k "$out"/.fsassay-* 2>/dev/null | awk '{ s += $1 } END { print s + 0 }')" -gt 20000 ]; }
manifest_begins() { [ "$(find "$out" -name '.fsassay-*' | wc -l)" -gt 1 ]; }
tree_grows() { [ -e "$(echo "$tmp"/fsassay-*/tree/files/000100)" ]; }
data_grows() { [ -e "$(echo "$tmp"/fsassay-*/data/100)" ]; }

# An mkfs that never ends, with a child of its own.
printf '#!/bin/sh\n: >"%s/mkfs-runs"\nsleep 600 &\nsleep 600\n' "$TMP" >"$fake/mke2fs"
chmod +x "$fake/mke2fs"
PATH=$fake:$PATH interrupted mkfs TERM mkfs_runs --fs ext4 --collection size-1K
rm "$fake/mke2fs"
many="--collection size-10K --files 60000 --size 1500M"
# shellcheck disable=SC2086
{
	interrupted lib INT image_grows --fs ext4 --engine lib $many
	interrupted manifest TERM manifest_begins --fs ext4 --engine lib --collection size-1M --files 300
	command -v mkfs.xfs >/dev/null && interrupted prototype HUP data_grows --fs xfs --engine lib $many
	if [ -n "$uml" ]; then
		interrupted boot TERM boots --fs ext4 --engine uml $many
		interrupted uml TERM files_written --fs ext4 --engine uml $many
	fi
	if [ -n "$mounts" ]; then
		interrupted host TERM files_written --fs ext4 --engine host $many
		interrupted host-quit QUIT files_written --fs ext4 --engine host $many
		command -v mkfs.btrfs >/dev/null && interrupted rootdir TERM tree_grows --fs btrfs --engine lib $many
	fi
}

# said NAME STATUS WORDS COMMAND...: it ends so, says that, and leaves nothing.
said() {
	local name=$1 want=$2 words=$3 status
	shift 3
	TMPDIR=$tmp "$@" >"$TMP/said" 2>&1
	status=$?
	result "$name" "$([ $status = "$want" ] && grep -q -e "$words" "$TMP/said" || echo "status $status: $(cat "$TMP/said")")"
	result "$name leaves nothing" "$(leftovers)"
}
set -- --collection size-1M --files 60
if [ -n "$mounts" ]; then
	said "missing mkfs" 2 'mke2fs is not installed' unshare -m bash -c '
		for f in /usr/sbin/mke2fs /sbin/mke2fs; do [ ! -e $f ] || mount --bind /dev/null $f; done
		exec "$FSASSAY" populate --fs ext4 --collection mixed "$0/image"' "$out"
	for engine in host uml lib; do
		[ $engine != uml ] || [ -n "$uml" ] || continue
		said "full disk $engine" 2 'no space is left' unshare -m bash -c '
			mount -t tmpfs -o size=24M tmpfs "$0"
			"$FSASSAY" populate --fs ext4 --engine "$@" "$0/image"
			status=$?
			ls -A "$0"
			exit $status' "$out" $engine "$@"
	done
	said "full temporary directory" 2 'no space is left' unshare -m bash -c '
		mount -t tmpfs -o size=24M tmpfs "$TMPDIR"
		exec "$FSASSAY" populate --fs btrfs --engine lib "$@"' - "$@" "$out/image"
fi
printf '#!/bin/sh\necho it falls >&2\nexit 3\n' >"$fake/linux.uml"
chmod +x "$fake/linux.uml"
PATH=$fake:$PATH said "no boot" 2 'does not boot: it ended with status 3' "$FSASSAY" populate --fs jfs --engine uml "$@" "$out/image"
printf '#!/bin/sh\nsleep 600 &\nsleep 600\n' >"$fake/linux.uml"
PATH=$fake:$PATH said "no end" 2 'did not finish in time' "$FSASSAY" populate --fs ext4 --engine uml --timeout 1 "$@" "$out/image"
printf 'no program' >"$fake/linux.uml"
PATH=$fake:$PATH said "no program" 2 'does not boot' "$FSASSAY" populate --fs ext4 --engine uml "$@" "$out/image"
said "nowhere" 2 'No such file or directory' "$FSASSAY" populate --fs ext4 --engine lib "$@" "$out/no/image"

# Which engine it takes, and that no kernel is told where none was.
took() { # NAME EXPRESSION OPTION...
	local name=$1 expression=$2
	shift 2
	if ! TMPDIR=$tmp "$FSASSAY" populate -J --collection mixed --files 10 "$@" "$out/image" >"$TMP/said" 2>&1; then
		result "auto $name" "$(cat "$TMP/said")"
		return
	fi
	result "auto $name" "$(python3 -c "
import json, sys
r = json.load(open(sys.argv[1])); m = json.load(open(r['manifest']))
same = r.get('kernel') == m.get('kernel_release') and r['engine'] == m['engine']
print('' if same and ($expression) else r)" "$TMP/said" 2>&1)"
	rm -f "$out/image"*
}
if command -v mkfs.reiser4 >/dev/null; then
	took reiser4 "r['engine'] == 'lib' and 'kernel' not in r and 'umount' not in r['times']" --fs reiser4
fi
took lib "r['engine'] == 'lib' and 'kernel' not in r" --fs ext4 --engine lib
if [ -n "$mounts" ]; then
	took host "r['engine'] == 'host' and r['kernel'] == '$(uname -r)'" --fs ext4
	# The library follows where no kernel works, without what the attempt left.
	printf '#!/bin/sh\nexit 1\n' >"$fake/linux.uml"
	program=$FSASSAY
	FSASSAY=$fake/unlooped
	printf '#!/bin/sh\nexec unshare -m sh -c "mount --bind /dev/null /dev/loop-control; exec \\"\\$@\\"" - "%s" "$@"\n' "$program" >"$FSASSAY"
	chmod +x "$FSASSAY"
	PATH=$fake:$PATH took fallback "r['engine'] == 'lib' and 'kernel' not in r and 'host: there is no loop' in r['engine_reason']
		and 'boot' in r['engine_reason'] and set(r['times']) == {'mkfs', 'write', 'sync'}" --fs ext4
	FSASSAY=$program
	can_mount jfs || PATH=$fake:$PATH said "auto none" 2 'host: kernel .* does not mount it.*; uml: user-mode Linux does not boot.*; lib: no library' \
		"$FSASSAY" populate --fs jfs "$@" "$out/image"
fi
# Two names are one to JFS as OS/2 knows it.
if [ -n "$uml" ] && command -v mkfs.jfs >/dev/null; then
	took jfs-os2 "r['engine'] == 'uml' and {'operation': 'create', 'error': 'EEXIST', 'count': 1} in r['not_supported']" --fs jfs --mkfs-options=-O
fi
exit 0
