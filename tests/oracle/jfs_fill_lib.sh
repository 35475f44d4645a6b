# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Filling JFS images in ways that populate's collections do not: sourced by the jfs tests.
UML_MODULES=$(ls -d /usr/lib/uml/modules/*/kernel 2>/dev/null | tail -n 1)

# uml_fill NAME MOUNT-OPTIONS SCRIPT: bash SCRIPT runs in the root of the mounted $TMP/NAME.img, under user-mode Linux with
# the host's files. Then $TMP/NAME.list and $TMP/NAME.sums are what the kernel shows of a read-only mount, $TMP/NAME.statfs
# its statfs. With CRASH=1 the machine stops without unmounting. LOG=FILE is an external log, as /dev/ubdc.
uml_fill() {
	local name=$1 options=$2 script=$3 init=$TMP/$1.init
	printf '%s\n' "$script" >"$TMP/$name.script"
	cat >"$init" <<-X
		#!/bin/bash
		export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
		mount -t proc proc /proc
		mount -t tmpfs tmpfs /mnt
		mkdir /mnt/m /mnt/dev
		mknod /mnt/dev/ubdb b 98 16
		mknod /mnt/dev/ubdc b 98 32
		case "$options" in *utf8*) python3 - <<'P'
		import ctypes, os
		ctypes.CDLL(None).syscall(313, os.open('$UML_MODULES/fs/nls/nls_utf8.ko', os.O_RDONLY), b'', 0)
		P
		esac
		[ -z "${LOG:-}" ] || mkfs.jfs -q -J journal_dev /mnt/dev/ubdc
		[ -z "${LOG:-}" ] || mkfs.jfs -q -J device=/mnt/dev/ubdc /mnt/dev/ubdb
		mount -t jfs -o $options /mnt/dev/ubdb /mnt/m || echo CANNOT-MOUNT
		(cd /mnt/m && bash "$TMP/$name.script")
		if [ -n "${CRASH:-}" ]; then sync; echo o >/proc/sysrq-trigger; sleep 9; fi
		umount /mnt/m
		mount -t jfs -o ro,$options /mnt/dev/ubdb /mnt/m
		stat -f -c '%b %f %a %c %d' /mnt/m >"$TMP/$name.statfs"
		cd /mnt/m
		find . -printf '%p\\0%y %m %U %G %n %s %b %i %T@ %l\\0' >"$TMP/$name.list"
		find . -type f -size -100M -print0 | xargs -0 -r sha256sum -z >"$TMP/$name.sums"
		cd /
		umount /mnt/m
		echo FILLED
		echo o >/proc/sysrq-trigger
		sleep 9
	X
	chmod +x "$init"
	LD_PRELOAD=$BUILD/uml_ptrace.so timeout 150 linux.uml mem=256M root=/dev/root rootfstype=hostfs rootflags=/ rw init="$init" con=null con0=fd:0,fd:1 quiet \
		ubdb="$TMP/$name.img" ${LOG:+ubdc="$LOG"} </dev/null >"$TMP/$name.log" 2>&1
	[ -n "${CRASH:-}" ] || grep -q FILLED "$TMP/$name.log" || { result "$name fill" "$(tail -n 5 "$TMP/$name.log")"; return 1; }
	if grep -q CANNOT-MOUNT "$TMP/$name.log"; then result "$name mount" "$(tail -n 5 "$TMP/$name.log")"; return 1; fi
}

# clean IMAGE: what jfs_fsck complains about.
clean() {
	local out
	out=$(jfs_fsck -n "$1" 2>&1 </dev/null)
	printf %s "$out" | grep -q 'Filesystem is clean' || printf 'jfs_fsck: %s' "$(printf %s "$out" | grep -iv '^jfs_fsck\|processing\|phase' | tail -n 6)"
}

# compare NAME [OPTION...]: an image of uml_fill against what the kernel showed.
compare() {
	local name=$1 b f a c d have
	shift
	result "$name jfs_fsck" "$(clean "$TMP/$name.img")"
	have=$("$FSASSAY" audit -J "$@" "$TMP/$name.img" 2>/dev/null)
	read -r b f a c d <"$TMP/$name.statfs"
	result "$name audit" "$(printf %s "$have" | python3 -c "
import json, sys
a = json.load(sys.stdin)['images'][0]
r, want = a['reconciliation'], [($b) * 4, ($b - $f) * 4, $a * 4, $c, $d]
for x in a['findings'][:3]: print(x['object'], x['number'], x['offset'], x['message'])
if sum(p['bytes'] for p in a['ledger']) != a['image']['size_bytes']: print('the ledger does not close')
for k in ('lost_blocks', 'used_free_blocks', 'conflict_blocks'):
    if r[k]: print(k, r[k])
if a['bridge']['unexplained_bytes']: print('unexplained', a['bridge']['unexplained_bytes'])
for n in ('df', 'df_ro'):
    got = [a[n]['size_kib'], a[n]['used_kib'], a[n]['available_kib'], a['df_inodes']['total'], a['df_inodes']['available']]
    if got != want: print(n, got, 'and not', want)
" 2>&1)"
	result "$name tree" "$(python3 "$TOP/tests/oracle/jfs_tree.py" "$TMP/$name.list" "$TMP/$name.sums" "$TMP/$name.img" "$@" 2>&1)"
	[ $# -gt 0 ] || result "$name usage" "$(python3 "$TOP/tests/oracle/jfs_usage.py" "$TMP/$name.img" 2>&1)"
}

# Directories of many names, deletions that free whole extents of inodes, files in many pieces, symbolic links of all
# lengths where the place of the target changes, attributes in the record and outside, ACLs, special files.
JFS_SCRIPT='
perl -e "
sub w { open(my \$f, q(>), \$_[0]) or die \$!; syswrite(\$f, \$_[1]); close \$f }
mkdir q(many); w(qq(many/file number \$_ with a rather long name that takes more than one slot), \$_) for 1..MANY;
mkdir q(gone); w(qq(gone/g\$_), q(x)) for 1..GONE; unlink qq(gone/g\$_) for 1..GONE; rmdir q(gone);
mkdir q(del); w(qq(del/d\$_), q()) for 1..800; for (my \$i = 1; \$i < 800; \$i += 2) { unlink qq(del/d\$i) }
w(qq(del/e\$_), q()) for 1..100;
open(A, q(>), q(fragA)); open(B, q(>), q(fragB));
for (1..1000) { sysseek(A, \$_ * 8192, 0); syswrite(A, q(a) x 4096); sysseek(B, \$_ * 12288, 0); syswrite(B, q(b) x 100) }
symlink(q(x) x \$_, qq(s\$_)) for (1, 100, 127, 128, 129, 200, 255, 256, 257); symlink(q(/abcdefg) x 400, q(s3200));
mkdir q(deep); for my \$i (1..20) { my \$p = qq(deep/\$i); mkdir \$p; for (1..5) { \$p .= q(/x); mkdir \$p } }
w(q(hl0), q(hard)); link(q(hl0), qq(hl\$_)) for 1..100;
w(qq(n\$_), q(y) x \$_) for (4095, 4096, 4097);
"
touch ea1 ea2 ea3 acl; mkdir dacl; mkfifo p; mknod c c 5 300; mknod b b 300 70000
setfattr -n user.a -v short ea1; setfattr -n user.b -v "$(printf "v%.0s" {1..3000})" ea2
for i in 1 2 3 4 5; do setfattr -n user.n$i -v "$(printf "v%.0s" {1..1200})" ea3; done
setfattr -h -n trusted.x -v y s100; setfattr -h -n trusted.x -v y s200; setfattr -n user.d -v dirval many
setfacl -m u:1000:rwx acl; setfacl -d -m g:55:rx dacl
truncate -s 1T sparse; echo x >>sparse
'
