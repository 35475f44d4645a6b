#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Every public XFS image: no crash, no hang, a closed ledger or a reason; nothing found in what xfs_repair passes.
. "$(dirname "$0")/lib.sh"
need python3 xfs_repair xz
if [ ! -d "${FSA_CORPUS:-}/xfs" ]; then
	echo "skip corpus_xfs: the public images (../shared/corpus beside the checkout) are not here"
	exit 0
fi
instrumented || exit 0
python3 "$TOP/tests/oracle/corpus.py" "$FSA_CORPUS/xfs" -- xfs_repair -n IMAGE
# A log on its own: xfs_logprint tells its state.
python3 "$TOP/tests/oracle/corpus.py" "$FSA_CORPUS/xfs_external_log" --complaint '<DIRTY>|failed|bad' -- xfs_logprint -t -f IMAGE
