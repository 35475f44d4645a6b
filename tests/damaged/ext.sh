#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Each kind of damage in tests/damaged/ext is made on a copy of a healthy image, and must be named with its place.
# ext/NAME/damage.sh makes it (its second line says of which base), ext/NAME/why.txt says what was done and what must be found.
# Run as `tests/damaged/ext.sh NAME...` it takes only those.
. "$(dirname "$0")/../oracle/lib.sh"
need mke2fs debugfs dumpe2fs e2fsck python3
kinds=$TOP/tests/damaged/ext
. "$kinds/base.sh"
cd "$TMP" || exit 1
make_bases || { echo "not ok ext: the healthy images cannot be made"; exit 1; }
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
