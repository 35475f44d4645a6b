#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Reiser4 images of each tail policy, node format and compression, filled by libreiser4 (no kernel has Reiser4): the format's
# own checker is content without a remark, ledger, st_blocks and archive are what was written, node and item counts and fill
# are what measurefs.reiser4 says, contents what debugfs.reiser4 gives.
# A reader that was written from FORMAT.md alone (reiser4_read.py) finds the same names and bytes.
# Run as `tests/oracle/reiser4.sh NAME...` it takes only those layouts.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.reiser4 fsck.reiser4 debugfs.reiser4 measurefs.reiser4 tar
chosen=" $* "

clean() { # IMAGE: what fsck.reiser4 remarks; it wants to write, so on a copy
	local out
	cp --sparse=always "$1" "$TMP/copy.img"
	out=$(timeout -s KILL 100 fsck.reiser4 --check -y -f "$TMP/copy.img" 2>&1 </dev/null)
	case $? in
	0) printf %s "$out" | grep -q 'FS is consistent' || echo "does not say that it is consistent" ;;
	*) printf %s "$out" | grep -a -e FSCK -e Fatal -e Error -e 'were detected' | head -n 4 ;;
	esac
	printf %s "$out" | grep -a FSCK | head -n 2
	rm -f "$TMP/copy.img"
}

tree() { # WHAT IMAGE [N]
	python3 "$TOP/tests/oracle/reiser4_tree.py" "$@" 2>&1
}

# layout NAME MKFS-OPTIONS POPULATE-OPTION...: `cat` files are also compared with debugfs.reiser4.
layout() {
	local name=$1 mkfs=$2
	shift 2
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	ENGINE=lib make_image "$name" --fs reiser4 --mkfs-options "-o $mkfs" "$@" || return
	result "$name fsck.reiser4" "$(clean "$TMP/$name.img")"
	CHECKS=${checks:-audit,ls,payload,figures,map,extract} check_image "$name"
	result "$name measurefs" "$(tree measure "$TMP/$name.img")"
	result "$name content" "$(tree content "$TMP/$name.img")"
	[ -z "${read:-}" ] || result "$name read by FORMAT.md" "$(python3 "$TOP/tests/oracle/reiser4_read.py" "$TMP/$name.img" \
		"$TMP/$name.img.manifest.json" 2>&1 | tail -n 4)"
	[ -z "${cat:-}" ] || result "$name debugfs --cat" "$(tree cat "$TMP/$name.img" "$cat")"
	drop_image "$name"
}

mixed="--collection mixed --files 40 --size 200M"
read=1 cat=8 layout smart create=reg40 $mixed
cat=8 layout extents create=reg40,formatting=extents $mixed
# Tails and clusters hold zeros where the source has holes: sizes of holes cannot be compared.
stored=audit,ls,figures,map
read=1 cat=8 checks=$stored layout tails create=reg40,formatting=tails $mixed
checks=$stored layout lzo1 create=ccreg40 $mixed
read=1 checks=$stored layout gzip1 create=ccreg40,compress=gzip1,cluster=16K $mixed
checks=$stored layout zstd1 create=ccreg40,compress=zstd1,cluster=32K $mixed
layout node41 create=reg40,node=node41 $mixed
layout 100MB create=reg40 --collection size-10M --files 1 --file-size 100000000 --size 160M
checks=audit,ls,payload,figures,map layout 10000-names create=reg40 --collection size-100B --files 10000 --size 32M

# The library first, as no kernel has a driver, and without naming a kernel.
out=$("$FSASSAY" populate --fs reiser4 --collection size-1K --files 3 "$TMP/auto.img" 2>&1)
case $out in
*"(Linux "*) ;;
*", by engine lib: no kernel as released has a driver"*) out= ;;
esac
result auto "$out"
drop_image auto

# 1034176 blocks show a df size of 3930680 KiB, as in the documented table.
truncate -s $((1034176 * 4096)) "$TMP/df.img"
mkfs.reiser4 -y -f "$TMP/df.img" >/dev/null 2>&1
size=$("$FSASSAY" audit -J "$TMP/df.img" | python3 -c 'import json, sys; print(json.load(sys.stdin)["images"][0]["df"]["size_kib"])')
[ "$size" = 3930680 ] && why= || why="size $size KiB"
result "df of 1034176 blocks" "$why"
rm -f "$TMP/df.img"

if [ -z "${FSA_LONG:-}" ]; then
	echo "skip size collections: FSA_LONG is not set"
	exit 0
fi
checks=$stored layout no-compression create=ccreg40,compressMode=none $mixed
checks=$stored layout clusters-4k create=ccreg40,compress=zstd1,cluster=4K $mixed
checks=$stored layout clusters-8k create=ccreg40,compress=gzip1,cluster=8K,node=node41 $mixed
for policy in smart tails extents; do
	layout 100B-$policy create=reg40,formatting=$policy --collection size-100B --size 160M
	layout 10K-$policy create=reg40,formatting=$policy --collection size-10K --size 300M
	layout 10M-$policy create=reg40,formatting=$policy --collection size-10M --files 20 --size 400M
done
for hash in rupasov_hash tea_hash fnv1_hash; do
	layout $hash create=reg40,hash=$hash $mixed
done
for fibre in lexic_fibre dot_o_fibre ext_3_fibre; do
	layout $fibre create=reg40,fibration=$fibre $mixed
done
