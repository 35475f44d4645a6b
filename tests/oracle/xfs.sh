#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Every layout of XFS that mkfs.xfs makes, filled by a real kernel with the mixed collection: ledger, df, st_blocks and the
# extracted tree are what the kernel and the format's own tools say.
# Run as `tests/oracle/xfs.sh NAME...` it takes only those layouts; FSA_LONG=1 takes the ones that need minutes too.
. "$(dirname "$0")/lib.sh"
need python3 mkfs.xfs xfs_repair xfs_db tar
chosen=" $* "

# layout NAME POPULATE-OPTION...: one of them. `has` names words of xfs_db's `version` that the image must have.
layout() {
	local name=$1 word words missing=
	shift
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	make_image "$name" --fs xfs --collection "${collection:-mixed}" --files "${files:-60}" "$@" || return
	if [ -n "${has:-}" ]; then
		words=,$(xfs_db -r -c version "$TMP/$name.img" 2>/dev/null | tr 'A-Z = +' 'a-z,,,'),
		for word in $has; do
			case $words in *",$word,"*) ;; *) missing="$missing $word" ;; esac
		done
		result "$name is that layout" "${missing:+missing:$missing}"
	fi
	[ -n "${log:-}" ] || result "$name xfs_repair" "$(xfs_repair -n "$TMP/$name.img" >"$TMP/repair.log" 2>&1 || tail -n 3 "$TMP/repair.log")"
	check_image "$name" ${log:+--log-device "$log"}
	[ -z "${after:-}" ] || $after "$name"
	[ -n "${log:-}" ] || result "$name blockget" "$(python3 "$TOP/tests/oracle/xfs_blocks.py" "$TMP/$name.img" 2>&1)"
	drop_image "$name"
}

# quota_damage NAME: a record that says what is not so must be found, and only it.
quota_damage() {
	cp --sparse=always "$TMP/$1.img" "$TMP/copy.img"
	xfs_db -x -c 'dquot -u 0' -c 'write -d diskdq.icount 7' "$TMP/copy.img" >/dev/null 2>&1
	result "$1 record" "$("$FSASSAY" audit -J "$TMP/copy.img" 2>/dev/null | python3 -c "
import json, sys
said = [f['message'] for f in json.load(sys.stdin)['images'][0]['findings']]
if len(said) != 1 or not said[0].startswith('quota record of user 0 says ') or ' blocks, 7 inodes, 0 realtime blocks; the inodes have ' not in said[0]:
    print(said)
" 2>&1)"
	rm -f "$TMP/copy.img"
}

uml=
command -v linux.uml >/dev/null && uml=yes

has="reflink finobt inobtcnt bigtime sparse_inodes" layout default --size 320M
layout all-off --size 320M --mkfs-options "-m finobt=0,reflink=0,rmapbt=0,inobtcount=0,bigtime=0 -i sparse=0"
has=rmapbt layout rmapbt --size 320M --mkfs-options "-m rmapbt=1"
layout block-1k --size 320M --block-size 1024 --mkfs-options "-m rmapbt=1"
has=nrext64 layout nrext64 --size 320M --mkfs-options "-i nrext64=1"
layout dir-64k --size 320M --mkfs-options "-n size=64k"
if [ -n "$uml" ]; then
	after=quota_damage ENGINE=uml layout quota --size 320M --mount-options uquota,gquota,pquota
	ENGINE=uml layout v4 --size 320M --mkfs-options "-m crc=0"
	ENGINE=uml layout v4-512 --size 320M --block-size 512 --mkfs-options "-m crc=0 -n ftype=0"
else
	echo "skip v4: no kernel here mounts version 4, user-mode Linux is not installed"
fi

[ -n "${FSA_LONG:-}" ] || [ "$chosen" != "  " ] || exit 0
layout inode-2k --size 320M --mkfs-options "-i size=2048"
layout inode-1k-rmap --size 320M --mkfs-options "-i size=1024 -m rmapbt=1"
# Names of the mixed collection that differ in case only cannot be made there.
collection=size-1K files=3000 layout ascii-ci --size 320M --mkfs-options "-n version=ci"
layout sector-4k --size 320M --mkfs-options "-s size=4096"
layout two-ags --size 320M --mkfs-options "-d agcount=2"
layout many-ags --size 640M --mkfs-options "-d agcount=8 -m rmapbt=1"
layout block-2k-dir-8k --size 320M --block-size 2048 --mkfs-options "-n size=8k"
layout stripes --size 640M --mkfs-options "-d su=64k,sw=4 -l su=64k"
collection=size-100B files=10000 layout many-files --size 320M --mkfs-options "-m rmapbt=1"
if [ -n "$uml" ]; then
	ENGINE=uml layout v4-inode-512 --size 320M --mkfs-options "-m crc=0 -i size=512"
	ENGINE=uml layout v4-attr1 --size 320M --mkfs-options "-m crc=0 -i attr=1,projid32bit=0 -l lazy-count=0,version=1"
	collection=size-1K files=3000 ENGINE=uml layout v4-ci-dir-16k --size 320M --mkfs-options "-m crc=0 -n version=ci"
	ENGINE=uml layout uml-default --size 320M
fi
log=$TMP/log.img
layout external-log --size 320M --log-device "$log" --log-size 64M
