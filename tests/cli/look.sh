#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# ls, stat, cat and map against a tree that is known.
set -u
. "$(dirname "$0")/common.bash"
needs mke2fs python3 debugfs
img=$TMP/a.img
small_image "$img" || { echo "not ok make-image: $(cat "$TMP/mke2fs.err")"; exit 1; }

same ls-names "$(cd "$TREE" && find . -mindepth 1 | sed 's,^\.,,' | LC_ALL=C sort)" \
	"$("$FSASSAY" ls --null -R "$img" | tr '\0' '\n' | grep -av '^/lost+found$' | LC_ALL=C sort)"
check ls-escapes "name is not escaped" bash -c "'$FSASSAY' ls '$img' | grep -aqF 'line\\x0afeed\\x1b[31m'"
check ls-json-bytes "JSON does not give the bytes back" python3 - "$FSASSAY" "$img" "$TREE" <<'P'
import base64, json, os, subprocess, sys
program, image, tree = sys.argv[1:]
out = json.loads(subprocess.check_output([program, "ls", "-RJ", image]))
names = set()
for e in out["entries"]:
    raw = base64.b64decode(e["path_base64"]) if "path_base64" in e else e["path"].encode()
    path = os.path.join(tree.encode(), raw.lstrip(b"/"))
    names.add(raw)
    if raw == b"/lost+found":
        continue
    st = os.lstat(path)
    assert e["size"] == st.st_size or e["type"] == "directory", e
    assert int(e["mode"], 8) == st.st_mode & 0o7777, e
    assert e["links"] == st.st_nlink or e["type"] == "directory", e
    if e["type"] == "symlink":
        assert e["target"] == os.readlink(path).decode(), e
assert b"/bad\xffname" in names and b"/line\nfeed\x1b[31m" in names
P
"$FSASSAY" ls -l --full-time "$img" hello dir/numbers >"$TMP/out"
check ls-old-time "mtime before 1970" grep -q "1969-07-20T20:17:4" "$TMP/out"

for file in hello dir/numbers sparse hole random dir/hard dir/sub/-rf; do
	check "cat-${file//\//-}" "contents differ" cmp -s <("$FSASSAY" cat "$img" "/$file") "$TREE/$file"
done
same cat-part "$(tail -c +1001 "$TREE/random" | head -c 70000 | sha256sum)" \
	"$("$FSASSAY" cat --from 1000 --length 70000 "$img" random | sha256sum)"
same cat-part-of-hole 5 "$("$FSASSAY" cat --from 1M --length 5 "$img" hole | wc -c)"
inode=$(debugfs -R 'stat /dir/numbers' "$img" 2>/dev/null | sed -n 's/^Inode: \([0-9]*\).*/\1/p')
check cat-by-number "contents differ" cmp -s <("$FSASSAY" cat "$img" "#$inode") "$TREE/dir/numbers"

"$FSASSAY" stat -J "$img" dir/numbers "#$inode" >"$TMP/stat.json" 2>"$TMP/err"
check stat "fields differ" python3 - "$TMP/stat.json" "$TREE/dir/numbers" "$inode" <<'P'
import json, os, sys
a, b = json.load(open(sys.argv[1]))["objects"]
st = os.lstat(sys.argv[2])
assert a["inode"] == b["inode"] == int(sys.argv[3])
assert b["path"] == "/dir/numbers"
assert a["size"] == st.st_size
assert sum(e["length"] for e in a["extents"] if e["kind"] == "data") >= st.st_size
bytes_of = {}
for p in a["purposes"]:
    bytes_of[p["purpose"]] = bytes_of.get(p["purpose"], 0) + p["bytes"]
assert bytes_of["file-data"] == st.st_size, bytes_of
assert bytes_of.get("file-slack", 0) == -st.st_size % 1024, bytes_of
assert a["purposes"] == b["purposes"]
P

"$FSASSAY" map -J "$img" >"$TMP/map.json"
same map-status 0 $?
check map-tiles "not every byte exactly once" python3 - "$TMP/map.json" "$img" <<'P'
import json, os, sys
runs = json.load(open(sys.argv[1]))["runs"]
at = 0
for r in runs:
    assert r["offset"] == at and r["length"] > 0, (at, r)
    at += r["length"]
assert at == os.path.getsize(sys.argv[2])
P
same map-text-sum "$(stat -c %s "$img")" "$("$FSASSAY" map -n "$img" | awk '{ s += $2 } END { print s }')"
# The blocks of a file are its own by map --at, by debugfs and by what they hold.
block=$(debugfs -R 'blocks /dir/numbers' "$img" 2>/dev/null | awk '{ print $1 }')
"$FSASSAY" map --at $((block * 1024 + 17)) "$img" >"$TMP/at"
check map-at-path "path is not told" grep -qx "path:     /dir/numbers" "$TMP/at"
check map-at-in-file "place in the file is not told" grep -qx "in file:  byte 17" "$TMP/at"
check map-at-purpose "purpose is not told" grep -q "^purpose:  file-data" "$TMP/at"
check map-at-superblock "superblock is not told" bash -c "'$FSASSAY' map --at 1080 '$img' | grep -q '^purpose:  superblock'"
debugfs -R 'testb 1 1' "$img" >/dev/null 2>&1
check map-free-is-free "debugfs calls a free block used" bash -c "
	'$FSASSAY' map -n --purpose free '$img' | head -20 | while read -r offset length rest; do
		debugfs -R \"testb \$((offset / 1024)) 1\" '$img' 2>/dev/null | grep -q 'not in use' || exit 1
	done"

"$FSASSAY" map --mapfile "$TMP/a.map" "$img"
same mapfile-status 0 $?
check mapfile "not a mapfile of the image" python3 - "$TMP/a.map" "$TMP/map.json" "$img" <<'P'
import json, os, sys
lines = [l for l in open(sys.argv[1]) if not l.startswith("#")]
pos, status, *rest = lines[0].split()
assert status == "?" and int(pos, 16) == 0
at, used = 0, 0
previous = None
for line in lines[1:]:
    pos, size, status = line.split()
    assert int(pos, 16) == at and status in "+?" and status != previous
    at += int(size, 16)
    previous = status
    used += int(size, 16) if status == "+" else 0
assert at == os.path.getsize(sys.argv[3])
runs = json.load(open(sys.argv[2]))["runs"]
assert used == sum(r["length"] for r in runs if r["purpose"] not in ("free", "outside"))
P
if command -v ddrescuelog >/dev/null; then
	check mapfile-ddrescuelog "ddrescuelog does not take it" bash -c "ddrescuelog -t '$TMP/a.map' >/dev/null"
else
	echo "skip mapfile-ddrescuelog: no ddrescuelog"
fi
exits mapfile-over-image 2 "$FSASSAY" map --mapfile "$img" "$img"
