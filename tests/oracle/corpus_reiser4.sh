#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Every public Reiser4 image: no crash, no hang, a closed ledger or a reason; nothing found in what fsck.reiser4 passes.
. "$(dirname "$0")/lib.sh"
need python3 fsck.reiser4 xz
if [ ! -d "${FSA_CORPUS:-}/reiser4" ]; then
	echo "skip corpus_reiser4: the public images (../shared/corpus beside the checkout) are not here"
	exit 0
fi
instrumented || exit 0
# It writes even when it only checks: on a copy.
cat >"$TMP/check" <<-'EOS'
	#!/bin/bash
	copy=$(mktemp)
	trap 'rm -f "$copy"' EXIT
	cp "$1" "$copy"
	timeout -s KILL 20 fsck.reiser4 --check -y -f "$copy" 2>&1 </dev/null
EOS
chmod +x "$TMP/check"
python3 "$TOP/tests/oracle/corpus.py" "$FSA_CORPUS/reiser4" -- "$TMP/check" IMAGE
