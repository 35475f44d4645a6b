#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Every public ReiserFS image: no crash, no hang, a closed ledger or a reason; nothing found in what reiserfsck passes.
. "$(dirname "$0")/lib.sh"
need python3 reiserfsck xz
if [ ! -d "${FSA_CORPUS:-}/reiserfs" ]; then
	echo "skip corpus_reiserfs: the public images (../shared/corpus beside the checkout) are not here"
	exit 0
fi
instrumented || exit 0
# It writes even when it only checks: on a copy. Its exit status is 0 also with complaints that it calls fixable.
cat >"$TMP/check" <<-'EOF'
	#!/bin/bash
	copy=$(mktemp)
	trap 'rm -f "$copy"' EXIT
	cp "$1" "$copy"
	out=$(reiserfsck --check -y "$copy" 2>&1 </dev/null)
	printf '%s\n' "$out"
	grep -aq "No corruptions found" <<<"$out"
EOF
chmod +x "$TMP/check"
python3 "$TOP/tests/oracle/corpus.py" "$FSA_CORPUS/reiserfs" -- "$TMP/check" IMAGE
