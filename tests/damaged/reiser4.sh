#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each kind of damage in tests/damaged/reiser4 is made on a copy of a healthy image, and must be named with its place.
# reiser4/NAME/damage.sh makes it (its second line says of which base), reiser4/NAME/why.txt says what was done and what must be found.
# Run as `tests/damaged/reiser4.sh NAME...` it takes only those.
. "$(dirname "$0")/../oracle/lib.sh"
need python3 mkfs.reiser4
kinds=$TOP/tests/damaged/reiser4
. "$kinds/base.sh"
cd "$TMP" || exit 1
make_bases || { echo "not ok reiser4: the healthy images cannot be made"; exit 1; }
[ $# -gt 0 ] || set -- $(cd "$kinds" && ls -d */)
for kind in "$@"; do
	kind=${kind%/}
	base=$(sed -n 's/^# base: //p' "$kinds/$kind/damage.sh")
	IMAGE=image
	cp --sparse=always "$base" image
	. "$kinds/$kind/damage.sh" >damage.out 2>&1
	if cmp -s "$base" image; then
		result "$kind" "nothing was damaged: $(cat damage.out)"
		continue
	fi
	python3 "$TOP/tests/damaged/damaged.py" "$kind" image "$kinds/$kind/why.txt"
	[ -z "${SHOW:-}" ] || { cat damage.out; "$FSASSAY" audit image 2>&1 | grep -e '^image: ' -e '^fsassay:'; }
done

# Damage that leaves no tree at all, so that there is nothing to extract: audit names it and closes the ledger.
rootless() { # NAME FINDING EDIT...
	local name=$1 text=$2 out status
	shift 2
	IMAGE=image
	cp --sparse=always tails image
	edit "$@"
	out=$("$FSASSAY" audit image 2>&1)
	status=$?
	case "$status $out" in "1 "*"$text"*) out= ;; *) out="exit status $status: $(printf %s "$out" | tail -n 3)" ;; esac
	result "$name" "$out"
}
rootless root_block "root block 99999, blocks 17 to 63 are possible" block 17 16 8 99999
rootless height "tree height 40, 2 to 32 are possible" block 17 68 2 40
rootless height_by_one "level 2, it is pointed to as level 3" block 17 68 2 +1
rootless node_self "item 0 points to block 23, which was walked before" body 0 0 0 8 self
