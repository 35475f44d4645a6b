#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# extract: the same tree again, and nothing half done.
set -u
. "$(dirname "$0")/common.bash"
needs mke2fs tar python3 debugfs
img=$TMP/a.img
small_image "$img" || { echo "not ok make-image: $(cat "$TMP/mke2fs.err")"; exit 1; }

unpack() {
	rm -rf "$TMP/x"
	mkdir "$TMP/x"
	tar -x -p -C "$TMP/x" 2>&1 | grep -v -e hdrcharset -e 'time stamp'
}

"$FSASSAY" extract "$img" >"$TMP/a.tar"
same extract-status 0 $?
"$FSASSAY" extract "$img" -f "$TMP/b.tar"
same extract-file-status 0 $?
check extract-file "differs from what goes to stdout" cmp -s "$TMP/a.tar" "$TMP/b.tar"
for order in directory inode physical; do
	check "extract-order-$order" "the archive is another" cmp -s "$TMP/a.tar" <("$FSASSAY" extract --order $order "$img")
	check "extract-dump-order-$order" "the dump is another" cmp -s <("$FSASSAY" extract --dump "$img") \
		<("$FSASSAY" extract --dump --order $order "$img")
done
exits extract-order-unknown 3 "$FSASSAY" extract --order sideways "$img"
unpack <"$TMP/a.tar"
check extract-tree "the tree is not the same" python3 - "$TREE" "$TMP/x" <<'P'
import os, stat, sys
def tree(root):
    out, links = {}, {}
    for directory, dirs, files in os.walk(root.encode()):
        for name in dirs + files:
            path = os.path.join(directory, name)
            rel = os.path.relpath(path, root.encode())
            if rel == b"lost+found":
                continue
            st = os.lstat(path)
            row = [oct(st.st_mode)]
            if stat.S_ISREG(st.st_mode):
                row += [st.st_size, open(path, "rb").read(), st.st_mtime_ns]
                links.setdefault(st.st_ino, []).append(rel)
            if stat.S_ISLNK(st.st_mode):
                row.append(os.readlink(path))
            out[rel] = row
    return out, sorted(sorted(l) for l in links.values() if len(l) > 1)
a, b = tree(sys.argv[1]), tree(sys.argv[2])
# mke2fs -d of Debian 12 keeps whole seconds only.
def whole(t):
    return {k: v[:3] + [v[3] // 10**9] if len(v) == 4 else v for k, v in t.items()}
for k in sorted(set(a[0]) | set(b[0])):
    if whole(a[0]).get(k) != whole(b[0]).get(k):
        print(k, [str(x)[:60] for x in a[0].get(k, [])], [str(x)[:60] for x in b[0].get(k, [])], file=sys.stderr)
        sys.exit(1)
assert a[1] == b[1], (a[1], b[1])
P
check extract-hole "the hole takes blocks" test "$(stat -c %b "$TMP/x/hole")" = 0

"$FSASSAY" extract "$img" dir/sub hello >"$TMP/part.tar"
same extract-part "dir/sub/ dir/sub/-rf hello" "$(tar tf "$TMP/part.tar" | sort | tr '\n' ' ' | sed 's/ $//')"
"$FSASSAY" extract "$img" /dir/../hello ./hello >"$TMP/part.tar"
same extract-names "hello hello" "$(tar tf "$TMP/part.tar" | tr '\n' ' ' | sed 's/ $//')"
unpack <"$TMP/part.tar"
check extract-twice "a file named twice is lost" cmp -s "$TREE/hello" "$TMP/x/hello"

# What only debugfs makes without being root: times, owners, attributes, ACLs, devices.
odd=$TMP/odd.img
small_image "$odd" -I 256
debugfs -w -f - "$odd" >/dev/null 2>&1 <<'D'
set_inode_field hello mtime 19011213204552
set_inode_field hello uid 4000000000
set_inode_field hello gid 3999999999
set_inode_field dir/numbers mtime_extra 0x1d6f3454
ea_set hello user.comment "two words"
ea_set hello user.a=b "percent and equals"
mknod cdev c 5 300
D
"$FSASSAY" extract "$odd" hello cdev dir/numbers >"$TMP/odd.tar"
check extract-odd "fields are not in the archive" python3 - "$TMP/odd.tar" <<'P'
import tarfile, sys
t = {m.name: m for m in tarfile.open(sys.argv[1])}
h = t["hello"]
assert h.uid == 4000000000 and h.gid == 3999999999, (h.uid, h.gid)
assert h.mtime < -2147000000, h.mtime
assert h.pax_headers["SCHILY.xattr.user.comment"] == "two words", h.pax_headers
assert h.pax_headers["SCHILY.xattr.user.a%3Db"] == "percent and equals", h.pax_headers
assert t["cdev"].type == tarfile.CHRTYPE
n = t["dir/numbers"].pax_headers["mtime"]
assert n.endswith(".123456789"), n
P

# Names that lead out of the tree: debugfs makes what mkfs would not.
bad=$TMP/bad.img
cp "$img" "$bad"
python3 - "$bad" <<'P'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
# "hello" and "fifo" in the root directory become names that no tree may hold.
for old, new in ((b"\x05\x01hello", b"\x05\x01../xx"), (b"\x04\x05fifo", b"\x04\x05/etc")):
    at = data.find(old)
    assert at > 0
    data[at:at + len(new)] = new
open(sys.argv[1], "wb").write(data)
P
"$FSASSAY" extract "$bad" >"$TMP/bad.tar" 2>"$TMP/err"
same extract-bad-status 1 $?
check extract-bad-said "no finding names it" grep -qF '../xx' "$TMP/err"
check extract-bad-names "a name leads out" bash -c "! tar tf '$TMP/bad.tar' 2>/dev/null | grep -a -e '\.\./' -e '^/' -e '^\./etc'"

# A file whose blocks are behind the end of a short image costs that file only.
short=$TMP/short.img
last=$("$FSASSAY" map -n --purpose file-data "$img" | tail -1 | awk '{ printf "%d", $1 + $2 }')
head -c $((last - 100000)) "$img" >"$short"
"$FSASSAY" extract "$short" >"$TMP/short.tar" 2>"$TMP/err"
same extract-short-status 1 $?
check extract-short-said "no finding names the file" grep -q "bytes cannot be read" "$TMP/err"
unpack <"$TMP/short.tar"
check extract-short-whole "a whole file is not whole" cmp -s "$TREE/hello" "$TMP/x/hello"
same extract-short-sizes "$(cd "$TREE" && stat -c %s hello random sparse hole dir/numbers | tr '\n' ' ')" \
	"$(cd "$TMP/x" && stat -c %s hello random sparse hole dir/numbers | tr '\n' ' ')"

# Outputs that end early.
{ "$FSASSAY" extract "$img" 2>"$TMP/err"; echo $? >"$TMP/status"; } | head -c 5000 >/dev/null
same extract-closed-pipe 2 "$(cat "$TMP/status")"
check extract-closed-pipe-said "nothing on stderr" grep -qi "broken pipe" "$TMP/err"
"$FSASSAY" extract "$img" -f /dev/full 2>"$TMP/err"
same extract-full-file 2 $?
exits extract-over-image 2 "$FSASSAY" extract "$img" -f "$img"
ln -s a.img "$TMP/alias"
exits extract-over-image-by-link 2 "$FSASSAY" extract "$img" -f "$TMP/alias"
cmp -s "$img" <(cat "$img") && e2fsck -fn "$img" >/dev/null 2>&1
same extract-image-untouched 0 $?
exits extract-no-such-directory 2 "$FSASSAY" extract "$img" -f "$TMP/nowhere/a.tar"
mkdir "$TMP/out.d"
(ulimit -f 1000; trap '' XFSZ; "$FSASSAY" extract "$img" -f "$TMP/out.d/limited.tar" 2>/dev/null)
same extract-no-room 2 $?
same extract-no-room-leaves "" "$(ls -A "$TMP/out.d")"
echo old >"$TMP/out.d/kept.tar"
(ulimit -f 1000; trap '' XFSZ; "$FSASSAY" extract "$img" -f "$TMP/out.d/kept.tar" 2>/dev/null)
same extract-keeps-old old "$(cat "$TMP/out.d/kept.tar")"
rm -f "$TMP/out.d/kept.tar"

# A signal while a fifo holds the program up, and while it writes a file: nothing is left.
for signal in INT TERM HUP; do
	mkfifo "$TMP/pipe"
	# The reader takes a little and then holds still.
	(exec 3<"$TMP/pipe"; head -c 1000 <&3 >/dev/null; exec sleep 60) &
	reader=$!
	python3 - "$FSASSAY" "$img" "$TMP/pipe" $signal >"$TMP/status" <<'P'
import os, signal, subprocess, sys, time
program, image, pipe, name = sys.argv[1:]
number = getattr(signal, "SIG" + name)
with open(pipe, "wb") as out:
    # A shell in the background ignores SIGINT for its children: here it has its usual effect.
    child = subprocess.Popen([program, "extract", image], stdout=out, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
time.sleep(0.4)
child.send_signal(number)
print(child.wait(timeout=50) == -number)
P
	same "extract-signal-$signal" True "$(cat "$TMP/status")"
	kill $reader 2>/dev/null
	wait $reader 2>/dev/null
	rm -f "$TMP/pipe"
done
check extract-signal-file "a temporary file is left" python3 - "$FSASSAY" "$img" "$TMP/out.d" <<'P'
import os, signal, subprocess, sys, time
program, image, folder = sys.argv[1:]
stopped = 0
whole = open(folder + "/../a.tar", "rb").read()
for delay in [i / 4000 for i in range(60)]:
    for number in (signal.SIGINT, signal.SIGTERM):
        child = subprocess.Popen([program, "extract", image, "-f", folder + "/s.tar"],
                                 preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        time.sleep(delay)
        child.send_signal(number)
        status = child.wait(timeout=100)
        left = os.listdir(folder)
        assert status in (0, -number), status
        # A signal may come when the archive is in place already: then it is whole.
        assert left == ["s.tar"] if status == 0 else left in ([], ["s.tar"]), (status, left)
        if left:
            assert open(folder + "/s.tar", "rb").read() == whole
        stopped += left == []
        for name in left:
            os.unlink(folder + "/" + name)
assert stopped > 0
P
xz -k0 "$img" 2>/dev/null && mkdir -p "$TMP/unpack" &&
check unpack-signal "a temporary file is left" env TMPDIR="$TMP/unpack" python3 - "$FSASSAY" "$img.xz" "$TMP/unpack" <<'P'
import os, signal, subprocess, sys, time
program, image, folder = sys.argv[1:]
for delay in [i / 500 for i in range(30)]:
    child = subprocess.Popen([program, "ls", image], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))
    time.sleep(delay)
    child.send_signal(signal.SIGTERM)
    child.wait(timeout=20)
    assert os.listdir(folder) == [], os.listdir(folder)
P

exit 0
