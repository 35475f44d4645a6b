#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Layouts of JFS, filled by the real kernel: ledger, df, st_blocks, the extracted tree, and the summary of jfs_fsck.
# Run as `tests/oracle/jfs.sh NAME...` it takes only those layouts.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/jfs_fill_lib.sh"
need python3 mkfs.jfs jfs_fsck jfs_debugfs linux.uml setfattr setfacl perl tar
chosen=" $* "

wanted() { [ "$chosen" = "  " ] || case $chosen in *" $1 "*) ;; *) return 1 ;; esac; }

# layout NAME POPULATE-OPTION...: filled with a collection.
layout() {
	local name=$1
	shift
	wanted "$name" || return
	ENGINE=uml make_image "$name" --fs jfs --collection "${collection:-mixed}" "$@" || return
	result "$name jfs_fsck" "$(clean "$TMP/$name.img")"
	check_image "$name"
	result "$name usage" "$(python3 "$TOP/tests/oracle/jfs_usage.py" "$TMP/$name.img" 2>&1)"
	[ -z "${grub:-}" ] || result "$name grub" "$(compare_with_grub "$TMP/$name.img")"
	drop_image "$name"
}

# compare_with_grub IMAGE: the contents of a few files as GRUB's reader has them.
compare_with_grub() {
	local path n=0
	command -v grub-fstest >/dev/null || return
	while read -r path; do
		[ "$("$FSASSAY" cat "$1" "$path" | sha256sum)" = "$(grub-fstest "$1" cat "(loop0)$path" 2>/dev/null | sha256sum)" ] ||
			echo "$path: other contents"
		n=$((n + 1))
	done < <("$FSASSAY" ls -lRJ "$1" | python3 -c "
import json, sys
n = 0
for e in json.load(sys.stdin)['entries']:
    if e.get('type') == 'file' and 'path' in e and 0 < e['size'] < 1 << 20 and e['path'].replace('/', '').replace('-', '').replace('.', '').isalnum() and e['path'].isascii():
        n += 1
        if n % 9 == 0 and n < 400: print(e['path'])
")
	[ "$n" -ge 5 ] || echo "only $n files were compared"
}

# special NAME MOUNT-OPTIONS MKFS-OPTION...: filled by the script.
special() {
	local name=$1 options=$2 script=${JFS_SCRIPT//MANY/${many:-700}}
	shift 2
	wanted "$name" || return
	script=${script//GONE/${gone:-1500}}
	rm -f "$TMP/$name.img"
	truncate -s "${size:-200M}" "$TMP/$name.img"
	mkfs.jfs -q "$@" "$TMP/$name.img" >/dev/null 2>&1
	uml_fill "$name" "$options" "${more:-}
$script" || return
	compare "$name" ${LOG:+--log-device "$LOG"}
	rm -f "$TMP/$name".*
}

grub=1 layout default --files 60
layout small-log --files 20 --mkfs-options '-s 2 -L somewhere' --size 100M
special filled rw
more='mkdir Case; touch Case/A Case/b' special os2 rw -O

# Names in Unicode: what such a mount shows is what is listed as long as a name has a character beyond 255.
if [ -f "$UML_MODULES/fs/nls/nls_utf8.ko" ]; then
	many=100 gone=100 more='mkdir u; for i in {1..150}; do : >"u/имя файла номер $i"; done; : >"u/日本語 €"' special utf8 iocharset=utf8
	# Every letter that has a capital, in an order that ignores case.
	many=100 gone=100 more='mkdir u; perl -CA -e "for (0x61..0x7a, 0xc0..0x24f, 0x370..0x4ff, 0x1e00..0x1fff, 0x24d0..0x24e9, 0xff21..0xff5a) {
		my \$n = chr . chr 0x20ac; utf8::encode(\$n); open(my \$f, q(>), qq(u/\$n)) or die qq(\$n: \$!) }"' special os2-utf8 iocharset=utf8 -O
else
	echo "skip utf8: the module nls_utf8 of user-mode Linux is not installed"
fi

truncate -s 16M "$TMP/external"
many=100 gone=100 LOG=$TMP/external special external-log rw

# More than 8192 * 1024 blocks: a level of the block map more.
many=100 gone=100 size=40G special level-1 rw -s 16

if wanted crashed; then
	truncate -s 100M "$TMP/crashed.img"
	mkfs.jfs -q "$TMP/crashed.img" >/dev/null 2>&1
	CRASH=1 uml_fill crashed rw 'for i in {1..60}; do echo $i >f$i; done; exec 7<f9 8<f10; echo data >open; exec 9<open; rm open f9 f10; mkdir d; sync'
	result crashed "$("$FSASSAY" audit -J "$TMP/crashed.img" 2>/dev/null | python3 -c "
import json, sys
a = json.load(sys.stdin)['images'][0]
if sum(p['bytes'] for p in a['ledger']) != a['image']['size_bytes']: print('the ledger does not close')
said = ' '.join(f['message'] for f in a['findings'])
for want in ('not unmounted', 'it may have work in it'):
    if want not in said: print('no finding:', want)
if a['reconciliation']['used_free_blocks'] or a['reconciliation']['conflict_blocks']: print(a['reconciliation'])
" 2>&1)"
fi

[ -n "${FSA_LONG:-}" ] || exit 0
many=20000 gone=10000 special many rw
many=20000 gone=10000 special many-os2 rw -O
collection=size-100B layout size-100B --files 50000
collection=size-1K layout size-1K --files 10000
collection=size-10K layout size-10K --files 10000
collection=size-100K layout size-100K --files 2000
