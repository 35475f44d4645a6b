#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What audit -J and compare -J write is what the schema files say: on shipped samples and on damaged copies of them. The other
# commands' JSON parses, and names that are no UTF-8 can be turned back into their bytes.
. "$(dirname "$0")/../oracle/lib.sh"
need python3 xz
python3 -c 'import jsonschema' 2>/dev/null || { echo "skip schema: python3-jsonschema is not installed"; exit 0; }
cd "$TMP" || exit 1

cat >validate.py <<'P'
import json
import sys

import jsonschema

with open(sys.argv[1], encoding='utf-8') as f:
    schema = json.load(f)
kind = jsonschema.validators.validator_for(schema)
kind.check_schema(schema)
document = json.load(sys.stdin)
problems = sorted(kind(schema).iter_errors(document), key=lambda e: list(map(str, e.path)))
if problems:
    print('%d problems, first: at %s: %s' % (len(problems), '/'.join(map(str, problems[0].path)), problems[0].message[:300]))
if not document.get('images', [1]):
    print('no image in it')
P
valid() { # NAME SCHEMA COMMAND...
	local name=$1 schema=$TOP/analyzer/schema/$2.schema.json why
	shift 2
	why=$("$FSASSAY" "$@" 2>/dev/null | python3 validate.py "$schema" 2>&1)
	result "$name" "$(printf %s "$why" | tail -n 1)"
}
parses() { # NAME COMMAND...
	local name=$1 why
	shift
	why=$("$FSASSAY" "$@" 2>/dev/null | python3 -c 'import json, sys; json.load(sys.stdin)' 2>&1)
	result "$name" "$(printf %s "$why" | tail -n 1)"
}

images=()
for packed in "$TOP"/samples/*.img.xz; do
	name=$(basename "$packed" .img.xz)
	xz -dc "$packed" >"$name.img"
	images+=("$name.img")
	valid "audit $name" audit audit -J "$name.img"
	for command in 'ls -lRJ' 'map -J' 'stat -J'; do
		path=
		[ "$command" != 'stat -J' ] || path=/
		# shellcheck disable=SC2086
		parses "${command%% *} $name" $command "$name.img" $path
		if [ -f "$TOP/analyzer/schema/${command%% *}.schema.json" ]; then
			# shellcheck disable=SC2086
			valid "${command%% *} schema $name" "${command%% *}" $command "$name.img" $path
		fi
	done
	# Damage of every sort, the same each time: figures that make no sense must still fit.
	for seed in 1 2 3 4 5 6; do
		cp "$name.img" damaged.img
		python3 - $seed <<-'P'
			import os, random, sys
			random.seed(int(sys.argv[1]))
			size = os.path.getsize('damaged.img')
			with open('damaged.img', 'r+b') as f:
			    for _ in range(200):
			        at = random.choice((2048 + random.randrange(4096), random.randrange(2048, min(size, 1 << 20))))
			        at = 1024 + random.randrange(1024) if random.randrange(20) == 0 else at
			        if 1024 <= at < 1024 + 108:
			            continue        # magic number and features: it should still be analysed
			        f.seek(at)
			        f.write(bytes([random.choice((0, 1, 255, 128, random.randrange(256)))]))
		P
		if "$FSASSAY" audit -J damaged.img >out 2>err; [ $? -le 1 ]; then
			result "audit damaged $name $seed" "$(python3 validate.py "$TOP/analyzer/schema/audit.schema.json" <out 2>&1 | tail -n 1)"
		elif [ -s err ]; then
			echo "ok audit damaged $name $seed, refused"
		else
			echo "not ok audit damaged $name $seed: refused without a word"
		fi
	done
done
valid "compare" audit compare -J "${images[@]}"

# The odd names of the samples come back as bytes.
why=$("$FSASSAY" ls -RJ "${images[0]}" /names 2>/dev/null | python3 -c '
import base64, json, sys
got = {base64.b64decode(e["path_base64"]) if "path_base64" in e else e["path"].encode() for e in json.load(sys.stdin)["entries"]}
want = {b"/names/" + n for n in (b"space inside", b"tab\tnew\nline", b"back\\slash", b"not-utf8-\xff\xfe", "h\u00e4\u00dflich-\u540d\u524d".encode(), b"-dash", b"x" * 255, b"...", b"quote\"\x27")}
print("" if want == got else "missing %r, unexpected %r" % (want - got, got - want))')
result "names as bytes" "$why"
