# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# A small healthy image, filled by the kernel of user-mode Linux, and the tools that damage copies of it.
. "$TOP/tests/oracle/jfs_fill_lib.sh"

# poke OFFSET HEX: these bytes there.
poke() {
	printf %b "$(printf %s "$2" | sed 's/../\\x&/g')" | dd of="$IMAGE" bs=1 seek=$(($1)) conv=notrunc status=none
}

# poke32 OFFSET VALUE: little-endian.
poke32() {
	poke "$1" "$(printf '%02x%02x%02x%02x' $(($2 & 255)) $(($2 >> 8 & 255)) $(($2 >> 16 & 255)) $(($2 >> 24 & 255)))"
}

peek32() { od -An -tu4 -N4 -j$(($1)) "$IMAGE" | tr -d ' '; }

# inode_at PATH: where its record lies, bytes. Fields: 24 size, 32 blocks, 40 links, 104 attributes, 224 root of its tree.
inode_at() { "$FSASSAY" stat -J "$IMAGE" "$1" | sed -n 's/^ *"offset": \([0-9]*\),.*/\1/p' | head -n 1; }

number_of() { "$FSASSAY" stat -J "$IMAGE" "$1" | sed -n 's/^ *"inode": \([0-9]*\),.*/\1/p' | head -n 1; }

# entry_at TEXT: where a directory entry's head slot lies whose name starts so.
entry_at() {
	python3 - "$IMAGE" "$1" <<-'P'
		import sys
		data = open(sys.argv[1], 'rb').read()
		name = sys.argv[2].encode('utf-16-le')
		found = []
		at = data.find(name)
		while at >= 0:
		    page, slot = (at - 6) // 4096 * 4096, (at - 6) % 4096 // 32
		    p = data[page:page + 4096]
		    # In a leaf that is one (pages hold what they held before, too), else in a root.
		    if (at - 6) % 32 == 0:
		        leaf = p[16] & 2 and p[20] == 128 and int.from_bytes(p[28:32], 'little') == page // 4096
		        if leaf and slot in p[p[21] * 32:p[21] * 32 + p[17]]:
		            found.insert(0, at - 6)
		        else:
		            found.append(at - 6)
		    at = data.find(name, at + 1)
		print(found[0])
	P
}

# first_block PATH: of its first extent.
first_block() { peek32 $(($(inode_at "$1") + 268)); }

# bit BLOCK VALUE: in both bitmaps of its dmap page, which is of the first 8192 blocks.
bit() {
	local map word mask
	for map in 2048 3072; do
		word=$((0x14000 + map + $1 / 32 * 4))
		mask=$((1 << (31 - $1 % 32)))
		if [ "$2" = 1 ]; then poke32 $word $(($(peek32 $word) | mask)); else poke32 $word $(($(peek32 $word) & ~mask)); fi
	done
}

make_bases() {
	truncate -s 32M "$TMP/base.img"
	mkfs.jfs -q "$TMP/base.img" >/dev/null 2>&1
	uml_fill base rw '
mkdir -p dir/sub many; echo 1 >small; echo 2 >other; echo 3 >dir/sub/deep; ln -s dir/sub link
for i in {1..150}; do : >"many/file $i with a name that takes several slots"; done
perl -e "open(A, q(>), q(frag)); for (1..300) { sysseek(A, \$_ * 8192, 0); syswrite(A, q(a) x 4096) }"
: >ea1; setfattr -n user.a -v short ea1; : >ea2; setfattr -n user.b -v "$(printf "v%.0s" {1..3000})" ea2' &&
		mv "$TMP/base.img" base && [ -z "$(clean base)" ] && "$FSASSAY" audit base >/dev/null
}
