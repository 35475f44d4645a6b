#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The outputs of the commands on the shipped samples are those kept in tests/golden; `make golden-update` writes them anew.
. "$(dirname "$0")/../oracle/lib.sh"
. "$TOP/tests/golden/golden_lib.sh"
need xz tar diff
cd "$TMP" || exit 1
golden "$TMP/new" || { echo "not ok golden: the samples cannot be unpacked"; exit 1; }
while read -r file; do
	if [ ! -f "$TOP/tests/golden/expected/$file" ]; then
		echo "not ok $file: there is no expected output; make golden-update writes it"
	elif diff -u "$TOP/tests/golden/expected/$file" "$TMP/new/$file" >"$TMP/diff"; then
		echo "ok $file"
	else
		echo "not ok $file: differs from the expected output in $(grep -c '^[-+]' "$TMP/diff") lines"
		head -n 12 "$TMP/diff"
	fi
done < <(cd "$TMP/new" && find . -type f -printf '%P\n' | sort)
while read -r file; do
	[ -f "$TMP/new/$file" ] || echo "not ok $file: expected, and no command makes it"
done < <(cd "$TOP/tests/golden/expected" && find . -type f -printf '%P\n' | sort)
exit 0
