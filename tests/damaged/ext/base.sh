# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Small healthy images that are the same each time they are made, so that findings can be told with their offsets, and
# the tools that damage copies of them.
export E2FSPROGS_FAKE_TIME=1000000000 MKE2FS_CONFIG=/dev/null

# dbg REQUEST...: on $IMAGE, writing. debugfs leaves with 0 when a request fails, so what it says is shown.
dbg() {
	printf '%s\n' "$@" | debugfs -w -f - "$IMAGE" 2>&1 | grep -v -e '^debugfs' -e '^Allocated inode'
	return 0
}

# poke OFFSET HEX: these bytes there.
poke() {
	printf %b "$(printf %s "$2" | sed 's/../\\x&/g')" | dd of="$IMAGE" bs=1 seek=$(($1)) conv=notrunc status=none
}

# replace OLD NEW: the bytes OLD (as printf understands them), which must be there exactly once, become NEW.
replace() {
	python3 - "$IMAGE" "$1" "$2" <<-'P'
		import sys
		path, old, new = sys.argv[1], *(w.encode().decode('unicode_escape').encode('latin-1') for w in sys.argv[2:])
		data = open(path, 'rb').read()
		if data.count(old) != 1 or len(old) != len(new):
		    sys.exit('%r is there %d times' % (old, data.count(old)))
		open(path, 'wb').write(data.replace(old, new))
	P
}

# inode_at N: its byte offset.
inode_at() {
	debugfs -R "imap <$1>" "$IMAGE" 2>/dev/null |
		sed -n 's/.*located at block \([0-9]*\), offset \(0x[0-9a-f]*\).*/\1 \2/p' | { read -r b o; echo $((b * 1024 + o)); }
}

# make_base NAME MKE2FS-OPTION...: inodes 12 /a, 13 /a/b, 14 /c (directories), 15 /small, 16 /a/big (five pieces or more),
# 17 /a/b/deep, 18 /c/link, 19 /attr1, 20 /attr2, 21 /c/other.
make_base() {
	local IMAGE=$1
	shift
	rm -f "$IMAGE"
	truncate -s 20M "$IMAGE"
	mke2fs -q -F -b 1024 -N 384 -U 22222222-0000-4000-8000-000000000001 -E hash_seed=22222222-0000-4000-8000-00000000000f \
		"$@" "$IMAGE" >/dev/null 2>&1 || return 1
	[ -f source ] || python3 - <<-'P'
		data = (b'%05d of a file that is read again\n' % i for i in range(100000))
		text = b''.join(data)
		open('small', 'wb').write(text[:2000])
		open('value', 'wb').write(text[:600])
		with open('big', 'wb') as f:
		    for i in range(12):
		        f.seek(i * 24576)
		        f.write(text[i * 9000:i * 9000 + 8192])
		open('source', 'w').close()
	P
	dbg 'mkdir a' 'mkdir a/b' 'mkdir c' 'write small small' 'write big a/big' 'write small a/b/deep' \
		'symlink c/link ../small' 'write small attr1' 'write small attr2' 'write small c/other' \
		'ea_set -f value attr1 user.long' 'ea_set attr2 user.short abc' >/dev/null
	e2fsck -fn "$IMAGE" >fsck.out 2>&1 || { cat fsck.out; return 1; }
}

make_bases() {
	make_base ext4 -O none,has_journal,ext_attr,dir_index,filetype,extent,64bit,flex_bg,sparse_super,large_file,metadata_csum,extra_isize \
		-I 256 -J size=1 &&
		make_base plain -O none,ext_attr,filetype,extent,sparse_super,large_file -I 256 &&
		make_base ext2 -O none,ext_attr,filetype,sparse_super,large_file -I 128
}
