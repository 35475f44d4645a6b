#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# IMAGE arguments of the command line: partitions, compressions, archives, refusals, and nothing left behind.
set -u
fsassay=${FSASSAY:-$(cd "$(dirname "$0")/../.." && pwd)/build/fsassay}
PATH=$PATH:/usr/sbin:/sbin
for tool in mke2fs sfdisk xz gzip zstd bzip2 lz4 tar python3; do
	command -v $tool >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
[ -x "$fsassay" ] || { echo "skipped: no $fsassay"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
mkdir tmp
export TMPDIR=$dir/tmp
failed=0
why=

fail() {
	why=${why:-$*}
}

# result NAME: closes a test; the reason of its first failed check is in $why. Lines may hold no other colon.
result() {
	local name=${1//:/ / }

	if [ -z "$why" ]; then
		echo "ok $name"
	else
		echo "not ok $name: $why"
		sed 's/^/    /' err
		failed=1
	fi
	why=
}

# takes LABEL IMAGE WORDS [OPTION...]: the filesystem found there has that label; WORDS are said on stderr.
takes() {
	local label=$1 image=$2 words=$3 got
	shift 3
	"$fsassay" audit -J "$@" "$image" >out 2>err
	[ $? -le 1 ] || fail "not analysed"
	got=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["images"][0]["filesystem"]["label"])' <out)
	[ "$got" = "$label" ] || fail "label '$got' and not '$label'"
	[ -z "$words" ] || grep -qF -- "$words" err || fail "not said, '$words'"
	result "takes $label from $image${*:+ with $*}"
}

# refuses IMAGE WORDS [OPTION...]: exit status 2, nothing on stdout, and the words on stderr.
refuses() {
	local image=$1 words=$2 status
	shift 2
	"$fsassay" audit "$@" "$image" >out 2>err
	status=$?
	[ $status -eq 2 ] || fail "exit status $status and not 2"
	[ -s out ] && fail "output in spite of the refusal"
	grep -qF -- "$words" err || fail "not said, '$words'"
	grep -qF -- "${image%@*}" err || fail "the message does not name the image"
	result "refuses ${image##*/}${*:+ with $*}, $words"
}

make_fs() {	# FILE LABEL
	rm -f "$1"
	truncate -s 1M "$1"
	mke2fs -q -F -t ext2 -L "$2" "$1" 1M
}

make_fs one.img one
make_fs two.img two
before=$(sha256sum one.img two.img)
takes one one.img ''

truncate -s 8M disk
printf 'label: dos\n2048,2048,82\n4096,,5\n6144,2048,83\n10240,2048,83\n' | sfdisk -q disk
dd if=one.img of=disk bs=512 seek=6144 conv=notrunc status=none
takes one disk 'partition 5'
dd if=two.img of=disk bs=512 seek=10240 conv=notrunc status=none
refuses disk '2 partitions are candidates'
refuses disk '6: start 5242880, 1048576 bytes, type 0x83, ext2'
takes one disk@5 ''
takes two disk@6 ''
takes two disk '' --offset 5242880
refuses disk@9 'has no partition 9'
refuses disk 'lies behind the end of the image' --offset 1G
refuses disk@5 'give one' --offset 0
cp disk with@6
refuses with@6 '2 partitions are candidates'

for pack in gzip xz 'zstd -q' bzip2 'lz4 -q'; do
	name=${pack%% *}
	$pack -c <one.img >one.$name
	takes one one.$name ''
	$pack -c <disk >disk.$name
	takes two disk.$name@6 ''
	head -c 300 disk.$name >short.$name
	refuses short.$name 'is damaged or cut off'
done

echo 'read me' >README
tar -cf a.tar README one.img
takes one a.tar "member 'one.img'"
takes one a.tar:one.img ''
tar -czf b.tar.gz README one.img two.img disk
refuses b.tar.gz '3 files that may be the image'
takes two b.tar.gz:two.img ''
takes two b.tar.gz:disk@6 ''
refuses b.tar.gz:three.img "no file 'three.img'"
tar -czf c.tar.gz README one.xz
takes one c.tar.gz ''

refuses missing.img 'No such file'
refuses "$dir" 'is a directory'
: >empty
refuses empty 'is empty'
printf 'QFI\373\0\0\0\3' >q.qcow2
truncate -s 64K q.qcow2
refuses q.qcow2 'qemu-img convert -O raw q.qcow2 OUTPUT'
truncate -s 1M swap.img
mkswap -q swap.img 2>/dev/null || mkswap swap.img >/dev/null
refuses swap.img 'swap is not supported'

# An image that is being unpacked leaves nothing behind, however the program ends. bzip2 is slow enough to hit.
head -c 40M /dev/urandom | bzip2 -1 -c >big.bz2
for signal in TERM INT KILL; do
	# Interrupts are ignored in background jobs of a shell, so the program is started with them restored. The signal comes when
	# the temporary file is open.
	python3 - $signal "$fsassay" audit big.bz2 <<'P' || fail "not ended by the signal"
import os, signal, subprocess, sys, time
number = getattr(signal, 'SIG' + sys.argv[1])
child = subprocess.Popen(sys.argv[2:], stdout=open('out', 'w'), stderr=open('err', 'w'),
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
folder, mine = '/proc/%d/fd' % child.pid, os.path.realpath('tmp')
def unpacking():
    links = []
    for fd in os.listdir(folder):
        try:
            links.append(os.readlink(os.path.join(folder, fd)))
        except OSError:
            pass
    return any(link.startswith(mine) for link in links)
while child.poll() is None and not unpacking():
    time.sleep(0.005)
child.send_signal(number)
sys.exit(child.wait() != -number)
P
	[ -z "$(ls -A tmp)" ] || fail "left behind, $(ls -A tmp)"
	result "nothing is left after SIG$signal"
done

[ "$before" = "$(sha256sum one.img two.img)" ] || fail "an image was written to"
result "images are unchanged"
exit $failed
