#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# ReiserFS filled by the kernel of user-mode Linux, in the layouts that mkfs.reiserfs makes and that kernel takes:
# ledger, df, st_blocks, items and tails as debugreiserfs counts them, the extracted tree, contents by GRUB's reader.
# Journals elsewhere, formats and block sizes that this kernel does not fill are in reiserfs_made.sh.
# Run as `tests/oracle/reiserfs.sh NAME...` it takes only those layouts.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.reiserfs debugreiserfs reiserfsck linux.uml tar
chosen=" $* "
ENGINE=uml
tool=$TOP/tests/oracle/reiserfs_items.py

clean() { # IMAGE [OPTION...]: what reiserfsck says that is no praise, on a copy
	local out
	cp --sparse=always "$1" "$TMP/fsck.img"
	out=$(reiserfsck --check -y "${@:2}" "$TMP/fsck.img" 2>&1 </dev/null)
	rm -f "$TMP/fsck.img"
	case $out in *"No corruptions found"*) ;; *) printf %s "$out" | tail -n 6 ;; esac
}

# same_as_grub NAME: contents of some files and tails by GRUB's reader.
same_as_grub() {
	local name=$1 path
	python3 - "$TMP/$name.img.manifest.json" <<-'EOF' |
		import json, sys
		files = [e for e in json.load(open(sys.argv[1]))["entries"] if e["type"] == "file" and "path" in e
		         and 0 < e["size"] < 300000 and e["path"].replace("/", "").replace("-", "").replace(".", "").isalnum()]
		for e in files[::max(1, len(files) // 25)]:
		    print(e["path"])
	EOF
	while read -r path; do
		"$FSASSAY" cat "$TMP/$name.img" "$path" >"$TMP/have" 2>&1
		grub-fstest "$TMP/$name.img" cat "(loop0)/$path" >"$TMP/want" 2>/dev/null
		cmp -s "$TMP/have" "$TMP/want" || echo "$path differs"
	done
}

# layout NAME POPULATE-OPTION...
layout() {
	local name=$1 made
	shift
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	made=$(make_image "$name" --collection "${collection:-mixed}" ${files:+--files "$files"} --fs reiserfs "$@") || {
		# Linux 6.1 does not survive every run with blocks of 1 KiB: it stops in its own code while it writes.
		[ -z "${fragile:-}" ] || made="skip $name: the kernel stopped while it filled the image"
		echo "$made"
		return
	}
	result "$name reiserfsck" "$(clean "$TMP/$name.img")"
	result "$name items" "$(python3 "$tool" items "$TMP/$name.img" 2>&1)"
	python3 "$tool" manifest "$TMP/$name.img" "$TMP/$name.img.manifest.json" "$TMP/$name.json" &&
		mv "$TMP/$name.json" "$TMP/$name.img.manifest.json"
	check_image "$name"
	if command -v grub-fstest >/dev/null; then
		result "$name grub" "$(same_as_grub "$name")"
	fi
	drop_image "$name"
}

files=60
layout default
layout tails --mount-options tails=on
if [ -z "${FSA_LONG:-}" ] && [ "$chosen" = "  " ]; then
	echo "skip layouts of long runs: FSA_LONG is not set"
	exit 0
fi
layout notail --mount-options notail
layout tea --mkfs-options "-h tea"
layout rupasov --mkfs-options "-h rupasov"
layout small-journal --mkfs-options "-s 513"
layout label --mkfs-options "-l name -u 12345678-1234-1234-1234-123456789abc"
fragile=1 files=5 layout block-1k --mkfs-options "-s 513" --block-size 1024 --size 24M
layout block-2k --block-size 2048
files= layout mixed-large --size 400M
# A journal moved inside the device: mkfs leaves the standard place free for files, and Linux stops itself when it writes there.
out=$("$FSASSAY" populate --fs reiserfs --engine uml --mkfs-options "-s 1025 -o 5000" --collection size-1K --files 40 --size 96M \
	"$TMP/moved.img" 2>&1)
case "$? $out" in "2 "*"moved.img: the kernel stopped during: "*"panic"*"Trying to log block 18, which is a log block"*) out= ;; esac
result moved-journal "$(printf %s "$out" | head -n 2)"
collection=size-100B files=10000 layout files-100B
collection=size-1K files=10000 layout files-1K
collection=size-10K files=3000 layout files-10K
collection=size-10K files=3000 layout files-10K-tails --mount-options tails=on
collection=size-100K files=500 layout files-100K
collection=size-1M files=50 layout files-1M
