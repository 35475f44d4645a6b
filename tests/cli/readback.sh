#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# readback: figures, digests, orders, and what happens when something goes wrong; extract --dump beside it.
set -u
. "$(dirname "$0")/common.bash"
needs mke2fs tar python3 restore xxhsum
img=$TMP/a.img
small_image "$img" || { echo "not ok make-image: $(cat "$TMP/mke2fs.err")"; exit 1; }

# column NAME OPTION...: of each row of a table.
column() {
	local name=$1
	shift
	"$FSASSAY" readback "$@" 2>"$TMP/err" | awk -v name="$name" '
		/^PASS/ { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
		at { print $at }'
}

"$FSASSAY" extract "$img" >"$TMP/a.tar" 2>/dev/null
"$FSASSAY" extract --dump "$img" >"$TMP/a.dump" 2>"$TMP/err"
same dump-status 0 $?
tar_digest=$(xxhsum -H2 "$TMP/a.tar" 2>/dev/null | cut -d' ' -f1)
dump_digest=$(xxhsum -H2 "$TMP/a.dump" 2>/dev/null | cut -d' ' -f1)
dd_digest=$(xxhsum -H2 "$img" 2>/dev/null | cut -d' ' -f1)
same digests "$dd_digest $tar_digest $dump_digest" "$(column xxh128 "$img" | tr '\n' ' ' | sed 's/ $//')"
for order in directory inode physical; do
	same "order-$order" "$tar_digest $dump_digest" \
		"$(column xxh128 --tar --dump --order $order "$img" | tr '\n' ' ' | sed 's/ $//')"
done
same physical-goes-forward "0 0" "$(column BACKWARD --tar --dump "$img" | tr '\n' ' ' | sed 's/ $//')"
same runs "min median max" "$(column RUN --tar --runs 3 "$img" | tr '\n' ' ' | sed 's/ $//')"
same count "$(head -c 6144 "$img" | xxhsum -H2 2>/dev/null | cut -d' ' -f1)" "$(column xxh128 --dd --bs 2K --count 3 "$img")"
same dd-bytes 33554432 "$(column BYTES -b --dd "$img")"
used=$("$FSASSAY" audit -b -n -o PURPOSE,BYTES "$img" | awk '$1 != "free" { sum += $2 } END { print sum }')
same used "$used" "$(column BYTES -b --dd --used "$img")"
"$FSASSAY" readback --cold --tar "$img" >"$TMP/out" 2>"$TMP/err"
same cold-status 0 $?
# A page that somebody has mapped stays: then reads go past the cache where the host allows that, and it is said either way.
check cold-mapped "the run is not what it is said to be" python3 - "$img" "$tar_digest" <<'P'
import json, mmap, os, subprocess, sys
image, digest = sys.argv[1:]
with open(image, "rb") as f:
    held = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)
    sum(held[i] for i in range(0, len(held), 4096))
    done = subprocess.run([*os.environ.get("FSASSAY", "build/fsassay").split(), "readback", "--cold", "--tar", "-J", image],
                          capture_output=True, text=True)
assert done.returncode == 0, done.stderr
run, = json.loads(done.stdout)["images"][0]["passes"][0]["runs"]
said = {"none": "is not cold", "direct": "O_DIRECT", "dropped": ""}[run["cold_by"]]
assert said in done.stderr, (run, done.stderr)
assert run["cold"] == (run["cold_by"] != "none"), run
assert run["digest"] == digest, run
P

check json "does not fit the schema" python3 - "$TOP/analyzer/schema/readback.schema.json" "$img" <<'P'
import json, os, subprocess, sys
import jsonschema
done = subprocess.run([*os.environ.get("FSASSAY", "build/fsassay").split(), "readback", "-J", "--runs", "2", sys.argv[2]],
                      capture_output=True)
assert done.returncode == 0, done.stderr
report = json.loads(done.stdout)
jsonschema.validate(report, json.load(open(sys.argv[1])))
image, = report["images"]
assert [p["pass"] for p in image["passes"]] == ["dd", "tar", "dump"]
assert all(len(p["runs"]) == 2 for p in image["passes"])
P

# tar -d finds no difference between the archive and what it unpacks to.
mkdir "$TMP/x"
tar -x -p -C "$TMP/x" -f "$TMP/a.tar" 2>/dev/null
same tar-d "" "$(tar -d -C "$TMP/x" -f "$TMP/a.tar" 2>&1 | grep -v -e hdrcharset -e 'time stamp')"

# restore lists all names and makes the tree again, as whoever runs this.
# A newline in a name makes two lines of it on both sides.
same restore-t "$(cd "$TREE" && find . | LC_ALL=C sort | tr '\n\33\377' '???')" \
	"$(restore -t -f "$TMP/a.dump" 2>"$TMP/err" | tail -n +5 | sed 's/^ *[0-9]*\t//' | grep -a -v '^\./lost+found' |
		LC_ALL=C sort | tr '\n\33\377' '???')"
mkdir "$TMP/r"
(cd "$TMP/r" && restore -r -f "$TMP/a.dump") >"$TMP/out" 2>"$TMP/err"
same restore-r 0 $?
for file in hello dir/numbers random sparse hole $'bad\xffname' dir/hard; do
	check "restored-$(printf %s "$file" | tr -c 'a-z\n' -)" "differs" cmp -s "$TREE/$file" "$TMP/r/$file"
done
check restored-link "is none" test "$TMP/r/dir/hard" -ef "$TMP/r/hello"
check restored-hole "takes blocks" test "$(stat -c %b "$TMP/r/hole")" = 0
"$FSASSAY" extract --dump "$img" -f "$TMP/b.dump"
check dump-again "the same image gives another stream" cmp -s "$TMP/a.dump" "$TMP/b.dump"

# A file whose bytes are not there costs that file.
short=$TMP/short.img
last=$("$FSASSAY" map -n --purpose file-data "$img" | tail -1 | awk '{ printf "%d", $1 + $2 }')
head -c $((last - 100000)) "$img" >"$short"
exits short-readback 1 "$FSASSAY" readback --tar --dump "$short"
check short-said "no finding names the file" grep -q 'zeros are dumped in their place' "$TMP/err"
"$FSASSAY" extract --dump "$short" >"$TMP/short.dump" 2>/dev/null
same short-dump-status 1 $?
mkdir "$TMP/s"
(cd "$TMP/s" && restore -r -f "$TMP/short.dump") >"$TMP/out" 2>"$TMP/err"
same short-restore 0 $?
check short-others "a whole file is not whole" cmp -s "$TREE/hello" "$TMP/s/hello"
same short-sizes "$(cd "$TREE" && stat -c %s hello random sparse hole dir/numbers | tr '\n' ' ')" \
	"$(cd "$TMP/s" && stat -c %s hello random sparse hole dir/numbers | tr '\n' ' ')"

# Outputs that end early, and usage.
exits dump-full 2 "$FSASSAY" extract --dump "$img" -f /dev/full
{ "$FSASSAY" extract --dump "$img" 2>"$TMP/err.pipe"; echo $? >"$TMP/status"; } | head -c 5000 >/dev/null
same dump-closed-pipe 2 "$(cat "$TMP/status")"
exits readback-full 2 bash -c '"$1" readback --dd "$2" >/dev/full' bash "$FSASSAY" "$img"
exits dump-with-path 3 "$FSASSAY" extract --dump "$img" hello
exits order-unknown 3 "$FSASSAY" readback --order sideways "$img"
exits runs-none 3 "$FSASSAY" readback --runs 0 "$img"
exits bs-none 3 "$FSASSAY" readback --bs 0 "$img"
exits used-without-dd 3 "$FSASSAY" readback --tar --used "$img"
exits no-image 3 "$FSASSAY" readback

check dump-full-said "nothing on standard error" bash -c '"$1" extract --dump "$2" -f /dev/full 2>&1 | grep -q "No space left"' \
	bash "$FSASSAY" "$img"
check dump-closed-pipe-said "nothing on standard error" grep -qi "broken pipe" "$TMP/err.pipe"
mkdir "$TMP/out.d"
(ulimit -f 1000; trap '' XFSZ; "$FSASSAY" extract --dump "$img" -f "$TMP/out.d/limited" 2>/dev/null)
same dump-no-room 2 $?
same dump-no-room-leaves "" "$(ls -A "$TMP/out.d")"
# A filesystem that fills up, where one can be made.
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
	for kind in "" --dump; do
		unshare -m bash -c 'mount -t tmpfs -o size=1M tmpfs "$1" && { "$2" extract $4 "$3" -f "$1/out"; echo $?; ls -A "$1"; }' \
			bash "$TMP/out.d" "$FSASSAY" "$img" $kind >"$TMP/out" 2>"$TMP/err"
		same "tmpfs-full$kind" 2 "$(cat "$TMP/out")"
		check "tmpfs-full-said$kind" "$(head -c 300 "$TMP/err")" grep -q "No space left" "$TMP/err"
	done
else
	echo "skip tmpfs-full: needs root"
fi
# SIGINT while a temporary file grows: a dump writes the holes of a file of 1 TiB, two GiB of them.
mkdir "$TMP/huge"
truncate -s 1T "$TMP/huge/hole" 2>/dev/null && truncate -s 16M "$TMP/huge.img" &&
	mke2fs -q -F -t ext4 -d "$TMP/huge" "$TMP/huge.img" 2>"$TMP/err" &&
	check dump-interrupted "a file is left, or it was not interrupted" python3 - "$FSASSAY" "$TMP/huge.img" "$TMP/out.d" <<'P'
import os, signal, subprocess, sys, time
program, image, folder = sys.argv[1:]
child = subprocess.Popen([program, "extract", "--dump", image, "-f", folder + "/dump"],
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
while child.poll() is None and not any(os.path.getsize(folder + "/" + n) > 0 for n in os.listdir(folder)):
    time.sleep(0.001)
child.send_signal(signal.SIGINT)
assert child.wait() == -signal.SIGINT, child.returncode
assert os.listdir(folder) == [], os.listdir(folder)
P
# readback: the figures so far, and the signal's own status.
check interrupted "no figures, or another status" python3 - "$FSASSAY" "$TMP/huge.img" <<'P'
import signal, subprocess, sys, time
program, image = sys.argv[1:]
child = subprocess.Popen([program, "readback", "--dump", image], stdout=subprocess.PIPE, text=True,
                         preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
def caught():
    with open("/proc/%d/status" % child.pid) as f:
        return any(int(line.split()[1], 16) & 1 << signal.SIGINT - 1 for line in f if line.startswith("SigCgt"))
while child.poll() is None and not caught():
    time.sleep(0.001)
child.send_signal(signal.SIGINT)
out = child.communicate()[0]
assert child.returncode == -signal.SIGINT, child.returncode
assert not out.count("\n") or "PASS" in out, out
P

# On a terminal there is a line with rate and time left; elsewhere there is none.
{
	truncate -s 1T "$TMP/terminal.img"
	mke2fs -q -F -t ext4 -E lazy_itable_init=1,nodiscard "$TMP/terminal.img" 2>/dev/null
	check progress "no line with rate and time left, or other figures" python3 - "$FSASSAY" "$TMP/terminal.img" <<'P'
import os, pty, re, signal, sys
program, image = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.execv(program, [program, "readback", "--dd", image])
seen, asked = b"", False
while True:
    try:
        some = os.read(terminal, 4096)
    except OSError:
        break
    if not some:
        break
    seen += some
    # As soon as it was there, it may end: Ctrl-C on that terminal.
    if not asked and re.search(rb"dd [0-9.]+[KMGT] [0-9.]+[KMGT]?/s [0-9]+ s left [0-9]+ %", seen):
        asked = True
        os.write(terminal, b"\x03")
status = os.waitpid(pid, 0)[1]
assert asked, seen[-300:]
assert b"stopped" in seen, seen[-300:]
assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGINT, status
P
	"$FSASSAY" readback --dd --count 100 "$img" >"$TMP/out" 2>"$TMP/err"
	check no-progress "$(head -c 100 "$TMP/err")" test ! -s "$TMP/err"
}

# A signal: the figures so far, and the signal's own exit status. Not SIGINT, which a shell without job control has
# its background commands ignore; and not for ever, whatever becomes of it.
truncate -s 1T "$TMP/big.img"
mke2fs -q -F -t ext4 -E lazy_itable_init=1,nodiscard "$TMP/big.img" 2>/dev/null
timeout -s TERM -k 20 2 "$FSASSAY" readback --dd "$TMP/big.img" >"$TMP/out" 2>"$TMP/err"
status=$?
same signal-status 124 $status
check signal-figures "no figures" grep -q 'stopped' "$TMP/out"
