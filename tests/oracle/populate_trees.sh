#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The collections clones and small-12K, and emptying an image: each tree as its manifest says, by every engine that is there
# (the kernel's own view of it is compared while it is made), the phases timed, and an emptied image without a finding.
. "$(dirname "$0")/lib.sh"
need python3 tar mke2fs mkfs.reiserfs mkfs.reiser4 fsck.reiser4
checks=audit,ls,payload,figures,extract

# A tree with what a source tree holds: nested, linked, empty, with an odd name.
mkdir -p "$TMP/tree/a/deep/er" "$TMP/tree/empty"
seq 20000 >"$TMP/tree/a/numbers"
printf 'x y' >"$TMP/tree/a/deep/odd name%"
: >"$TMP/tree/a/deep/er/nothing"
ln -s ../numbers "$TMP/tree/a/deep/link"
ln "$TMP/tree/a/numbers" "$TMP/tree/hard"
tar -C "$TMP" -czf "$TMP/tree.tar.gz" tree

phases() { # NAME WORD...: of its manifest; prints those that are missing
	python3 - "$TMP/$1.img.manifest.json" "${@:2}" <<-'P'
		import json, sys
		times = json.load(open(sys.argv[1]))['times']
		print(' '.join('no time of ' + w for w in sys.argv[2:] if w not in times))
	P
}
# The files of the first tree against the originals.
same_tree() { # NAME TOP
	mkdir "$TMP/out" && "$FSASSAY" extract "$TMP/$1.img" 2>&1 | tar -C "$TMP/out" --warning=no-timestamp -xf - 2>&1
	for clone in "$TMP"/out/tree-*; do
		diff -r --no-dereference "$TMP/tree" "$clone$2" 2>&1 | head -n 3
	done
	[ "$(ls -d "$TMP"/out/tree-* | wc -l)" = 3 ] || echo "not three trees"
	rm -rf "$TMP/out"
}
clones() { # NAME OPTION...
	local name=$1
	shift
	make_image "$name" --collection clones --clones 2 "$@" || return
	CHECKS=$checks check_image "$name"
	result "$name phases" "$(phases "$name" mkfs tree-0 tree-1 tree-2 sync)"
}

for engine in host uml lib; do
	case $engine in
	host) can_mount ext4 || { echo "skip host: it needs root and loop devices"; continue; } ;;
	uml) command -v linux.uml >/dev/null || { echo "skip uml: user-mode Linux is not installed"; continue; } ;;
	esac
	ENGINE=$engine clones "directory $engine" --fs ext4 --tree "$TMP/tree"
	result "directory $engine content" "$(same_tree "directory $engine" "")"
	ENGINE=$engine clones "archive $engine" --fs ext4 --tree "$TMP/tree.tar.gz"
	result "archive $engine content" "$(same_tree "archive $engine" /tree)"
	ENGINE=$engine clones "seeded $engine" --fs ext3 --files 300
	ENGINE=$engine make_image "small $engine" --fs ext4 --collection small-12K --files 300 &&
		CHECKS=$checks check_image "small $engine" &&
		result "small $engine phases" "$(phases "small $engine" tree-0 tree-1 link-same sync)"
	a=$(python3 -c 'import hashlib, json, sys
print(hashlib.sha256(json.dumps(json.load(open(sys.argv[1]))["entries"]).encode()).hexdigest())' "$TMP/small $engine.img.manifest.json")
	b=${b:-$a}
	[ "$a" = "$b" ] && why= || why="another tree than that of the first engine"
	result "small $engine tree" "$why"
	out=$("$FSASSAY" populate --remove --engine $engine --fs ext4 --collection small-12K --files 300 "$TMP/small $engine.img" 2>&1)
	why=$(grep -q '^  remove ' <<<"$out" || tail -n 2 <<<"$out")
	result "small $engine removed" "$why"
	out=$("$FSASSAY" audit -J "$TMP/small $engine.img" | python3 -c '
import json, sys
a = json.load(sys.stdin)["images"][0]
f = a["figures"]
print("" if not a["findings"] and (f["files"], f["symlinks"], f["directories"]) == (0, 0, 2) else (a["findings"][:2], f))')
	result "small $engine empty" "$out"
	drop_image "directory $engine"
	drop_image "archive $engine"
	drop_image "seeded $engine"
	drop_image "small $engine"
done

# No kernel has Reiser4: its library writes, and takes away again.
ENGINE=lib clones "reiser4" --fs reiser4 --mkfs-options '-o create=reg40' --tree "$TMP/tree"
result "reiser4 content" "$(same_tree reiser4 "")"
"$FSASSAY" populate --remove --fs reiser4 --collection clones --clones 2 --tree "$TMP/tree" "$TMP/reiser4.img" >"$TMP/log" 2>&1
result "reiser4 removed" "$(grep -q '^  remove ' "$TMP/log" || tail -n 2 "$TMP/log")"
out=$("$FSASSAY" audit "$TMP/reiser4.img" | tail -n 1)
result "reiser4 empty" "$(grep -q '^No findings' <<<"$out" || echo "$out")"
out=$(fsck.reiser4 --check -y -f "$TMP/reiser4.img" 2>&1 </dev/null)
result "reiser4 empty fsck.reiser4" "$(grep -qa 'FS is consistent' <<<"$out" && ! grep -qa FSCK <<<"$out" || grep -a FSCK <<<"$out")"

# An archive that is none, a tree that is not there, a tree for a collection that takes none.
bad() { # NAME STATUS WORDS OPTION...
	local name=$1 want=$2 words=$3 out
	shift 3
	out=$("$FSASSAY" populate --fs ext4 "$@" "$TMP/bad.img" 2>&1)
	[ $? = "$want" ] && grep -q -e "$words" <<<"$out" && why= || why="$out"
	[ -z "$(ls -A "$TMP" | grep -e '^bad' -e '^\.fsassay' -e '^fsassay-')" ] || why="it leaves something: $why"
	result "$name" "$why"
}
head -c 5000 /dev/urandom >"$TMP/noise"
bad "no archive" 2 noise --collection clones --tree "$TMP/noise"
bad "no tree" 2 'No such file' --collection clones --tree "$TMP/nothing"
bad "tree and size" 3 'takes no tree' --collection size-1K --tree "$TMP/tree"
bad "clones and size" 3 'no clones' --collection size-1K --clones 3

# 120 GiB and a few files: the image takes no more room than what is in use.
if make_image sparse --fs ext4 --size 120G --collection size-1K --files 20; then
	used=$("$FSASSAY" audit -J "$TMP/sparse.img" | python3 -c 'import json, sys; print(json.load(sys.stdin)["images"][0]["figures"]["used_bytes"])')
	room=$(($(stat -c %b "$TMP/sparse.img") * 512))
	[ "$room" -le "$used" ] && why= || why="$room bytes of room, $used are used"
	result "sparse" "$why"
fi
