#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Every layout of ext2, ext3 and ext4 that mke2fs makes, filled by a real kernel with the mixed collection: ledger, df, st_blocks,
# owners of blocks and the extracted tree are what the kernel and the format's own tools say.
# Run as `tests/oracle/ext.sh NAME...` it takes only those layouts.
. "$(dirname "$0")/lib.sh"
need python3 mke2fs e2fsck debugfs dumpe2fs tar
chosen=" $* "

clean() { # IMAGE [OPTION...]: what e2fsck complains about
	local out rc
	out=$(e2fsck -fn "${@:2}" "$1" 2>&1)
	rc=$?
	[ $rc = 0 ] || echo "e2fsck exit status $rc: $(printf %s "$out" | head -n 4)"
}

# layout NAME POPULATE-OPTION...: one of them. `has` names feature words that the image must really have.
layout() {
	local name=$1 word missing=
	shift
	[ "$chosen" = "  " ] || case $chosen in *" $name "*) ;; *) return ;; esac
	make_image "$name" --collection "${collection:-mixed}" --files 60 "$@" || return
	if [ -n "${has:-}" ]; then
		for word in $has; do
			dumpe2fs -h "$TMP/$name.img" 2>/dev/null | grep -qwe "$word" || missing="$missing $word"
		done
		result "$name is that layout" "${missing:+missing:$missing}"
	fi
	result "$name e2fsck" "$(clean "$TMP/$name.img" ${journal:+-j "$journal"})"
	check_image "$name" ${journal:+--journal-device "$journal"}
	result "$name icheck" "$(python3 "$TOP/tests/oracle/ext_icheck.py" "$TMP/$name.img" \
		${journal:+--journal-device "$journal"} 2>&1)"
	drop_image "$name"
}

layout ext2-1k --fs ext2 --block-size 1024
layout ext2-4k --fs ext2 --block-size 4096
layout ext3 --fs ext3
has="extent 64bit flex_bg metadata_csum" layout ext4 --fs ext4
has=inline_data layout inline --fs ext4 -O inline_data
has=inline_data layout inline-1024 --fs ext4 -O inline_data --mkfs-options "-I 1024" --block-size 4096 --size 128M
has=bigalloc layout bigalloc --fs ext4 -O bigalloc --block-size 4096 --size 256M
has=bigalloc layout bigalloc-64k --fs ext4 -O bigalloc --mkfs-options "-C 65536" --block-size 4096 --size 512M
has=meta_bg layout meta_bg --fs ext4 -O meta_bg,^resize_inode
has=sparse_super2 layout sparse_super2 --fs ext4 -O sparse_super2,^resize_inode
layout inode-128 --fs ext4 -O ^64bit,^flex_bg,^metadata_csum --mkfs-options "-I 128"
has=uninit_bg layout gdt_csum --fs ext4 -O ^metadata_csum,uninit_bg
layout no-journal --fs ext4 -O ^has_journal
has="ea_inode large_dir" layout ea_inode --fs ext4 -O ea_inode,large_dir
has=mmp layout mmp --fs ext4 -O mmp
has="orphan_file fast_commit" layout orphan_file --fs ext4 -O orphan_file,fast_commit
has="stable_inodes encrypt verity" layout rare --fs ext4 -O stable_inodes,encrypt,verity
layout lazy --fs ext4 --mkfs-options "-E lazy_itable_init=1,packed_meta_blocks=1" --size 200M

# Not every running kernel is built with quotas; the one of user-mode Linux is.
if command -v linux.uml >/dev/null; then
	ENGINE=uml has="quota project" layout quota --fs ext4 -O quota,project \
		--mkfs-options "-E quotatype=usrquota:grpquota:prjquota"
	ENGINE=uml layout uml --fs ext4
else
	echo "skip quota: user-mode Linux is not installed"
fi
# Larger blocks than pages are only parsed: written in process, no kernel is asked.
ENGINE=lib layout block-64k --fs ext4 --block-size 65536 --size 512M
ENGINE=lib layout block-16k --fs ext4 --block-size 16384 --size 256M

# Few kernels are built with the tables that this needs to mount.
ENGINE=lib has=casefold layout casefold --fs ext4 -O casefold
# The mixed collection has times that the kernel does not clamp to the range of a revision 0.
collection=size-10K layout revision-0 --fs ext2 --mkfs-options "-r 0" --block-size 1024

journal=$TMP/journal.img
layout external-journal --fs ext4 --log-device "$journal" --log-size 16M
