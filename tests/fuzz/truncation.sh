#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 400
# Every shipped sample, cut off at every block in use and at odd sizes: a closed ledger or a refusal, and no byte read behind the end.
. "$(dirname "$0")/../oracle/lib.sh"
need xz clang make
cd "$TOP" || exit 1
mkdir -p build-fuzz
if ! (flock 9 && make -j2 -f tests/fuzz/Makefile build-fuzz/truncate) 9>build-fuzz/lock >"$TMP/log" 2>&1; then
	tail -n 20 "$TMP/log"
	echo "not ok truncation: the driver cannot be built"
	exit 1
fi
# The journals of larger samples are thousands of blocks that all look the same: FSA_LONG=1 cuts at each of them too.
step=4
[ -z "${FSA_LONG:-}" ] || step=1
for packed in "$TOP"/samples/*.img.xz; do
	name=$(basename "$packed" .img.xz)
	xz -dc "$packed" >"$TMP/$name.img"
	if timeout 300 "$TOP/build-fuzz/truncate" $step "$TMP/$name.img" >"$TMP/log" 2>&1; then
		echo "ok truncation $name, $(sed 's/.*: //' "$TMP/log")"
	else
		tail -n 40 "$TMP/log"
		echo "not ok truncation $name: $(grep -m 1 -e 'ERROR:' -e 'runtime error' -e 'must hold' -e 'not analysed' "$TMP/log")"
	fi
	rm -f "$TMP/$name.img"
done
