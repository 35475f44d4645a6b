#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Every public JFS image: no crash, no hang, a closed ledger or a reason; nothing found in what jfs_fsck passes.
. "$(dirname "$0")/lib.sh"
need python3 jfs_fsck xz
if [ ! -d "${FSA_CORPUS:-}/jfs" ]; then
	echo "skip corpus_jfs: the public images (../shared/corpus beside the checkout) are not here"
	exit 0
fi
instrumented || exit 0
python3 "$TOP/tests/oracle/corpus.py" "$FSA_CORPUS/jfs" --complaint 'dirty|ERRORS' -- jfs_fsck -n IMAGE
