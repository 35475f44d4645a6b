#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# A disk that cannot read some of its sectors: a file that lies there costs that file those bytes, in any order of reading; the
# archive and the dump stay whole, the file is named, and the exit status is 1.
set -u
. "$(dirname "$0")/common.bash"
needs mke2fs tar python3 restore "${CC:-cc}"
case $(basename "$(dirname "$FSASSAY")") in *asan*) echo "skip readerror: not with a sanitizer, which wants to be first"; exit 0 ;; esac
img=$TMP/a.img
small_image "$img" || { echo "not ok make-image: $(cat "$TMP/mke2fs.err")"; exit 1; }

cat >"$TMP/bad.c" <<'C'
/* Reads that touch the bytes from BAD_FROM up to BAD_TO of a file fail as those of a disk do. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t pread64(int fd, void *buffer, size_t length, off_t offset)
{
	ssize_t (*read_at)(int, void *, size_t, off_t) = (ssize_t (*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, "pread64");

	if (offset < atoll(getenv("BAD_TO")) && offset + (off_t)length > atoll(getenv("BAD_FROM"))) {
		errno = EIO;
		return -1;
	}
	return read_at(fd, buffer, length, offset);
}
C
"${CC:-cc}" -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -D'pread64=pread64' -shared -fPIC -o "$TMP/bad.so" "$TMP/bad.c" -ldl 2>"$TMP/err" ||
	{ echo "not ok compile: $(head -c 500 "$TMP/err")"; exit 1; }

# Two sectors of 4 KiB that hold bytes of "random" from its second MiB: where they lie on the image, and in the file.
read -r at place <<<"$("$FSASSAY" stat -J "$img" random | python3 -c '
import json, sys
want = (1 << 20) + 4096
def walk(x):
    if isinstance(x, dict):
        if "logical" in x and "physical" in x and x["physical"] is not None and x["logical"] <= want < x["logical"] + x["length"]:
            at = -(-(x["physical"] + want - x["logical"]) // 4096) * 4096
            print(at, at - x["physical"] + x["logical"]); raise SystemExit
        for v in x.values(): walk(v)
    elif isinstance(x, list):
        for v in x: walk(v)
walk(json.load(sys.stdin))')"
[ -n "$at" ] || { echo "not ok place: no extent of the file found"; exit 1; }
export BAD_FROM=$at BAD_TO=$((at + 8192))
damaged() { LD_PRELOAD=$TMP/bad.so "$@"; }

python3 - "$TREE/random" "$TMP/wanted" "$place" <<'P'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = int(sys.argv[3])
data[at:at + 8192] = bytes(8192)
open(sys.argv[2], "wb").write(data)
P

"$FSASSAY" extract "$img" >"$TMP/whole.tar" 2>/dev/null
for order in directory inode physical; do
	damaged "$FSASSAY" extract --order $order "$img" >"$TMP/$order.tar" 2>"$TMP/err"
	same "tar-$order-status" 1 $?
	same "tar-$order-length" "$(stat -c %s "$TMP/whole.tar")" "$(stat -c %s "$TMP/$order.tar")"
	check "tar-$order-named" "$(head -c 300 "$TMP/err")" grep -q '8192 of 3000000 bytes cannot be read: zeros are extracted' "$TMP/err"
	damaged "$FSASSAY" extract --dump --order $order "$img" >"$TMP/$order.dump" 2>"$TMP/err"
	same "dump-$order-status" 1 $?
	check "dump-$order-named" "$(head -c 300 "$TMP/err")" grep -q '8192 of 3000000 bytes cannot be read: zeros are dumped' "$TMP/err"
	check "order-$order" "another stream" bash -c 'cmp "$1/directory.tar" "$1/$2.tar" && cmp "$1/directory.dump" "$1/$2.dump"' \
		bash "$TMP" $order
done
mkdir "$TMP/x" "$TMP/r"
tar -x -p -C "$TMP/x" -f "$TMP/physical.tar" 2>"$TMP/err"
same tar-unpacks 0 $?
(cd "$TMP/r" && restore -r -f "$TMP/physical.dump") >"$TMP/out" 2>"$TMP/err"
same dump-restores 0 $?
for made in x r; do
	check "$made-damaged" "not the bytes that can be read, and zeros" cmp "$TMP/wanted" "$TMP/$made/random"
	for file in hello dir/numbers sparse hole; do
		check "$made-$(printf %s "$file" | tr -c 'a-z\n' -)" "differs" cmp -s "$TREE/$file" "$TMP/$made/$file"
	done
done
damaged "$FSASSAY" readback --tar --dump -J "$img" >"$TMP/out" 2>"$TMP/err"
same readback-status 1 $?
check readback-counts "$(head -c 300 "$TMP/out")" python3 - "$TMP/out" <<'P'
import json, sys
runs = [p["runs"][0] for p in json.load(open(sys.argv[1]))["images"][0]["passes"]]
assert [(r["complete"], r["incomplete"]) for r in runs] == [(True, 1), (True, 1)], runs
P
# dd has no file to blame: it fails.
damaged "$FSASSAY" readback --dd "$img" >"$TMP/out" 2>"$TMP/err"
same dd-status 2 $?
check dd-said "$(head -c 300 "$TMP/err")" grep -q 'bytes at' "$TMP/err"
