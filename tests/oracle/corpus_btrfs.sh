#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 300
# Every public btrfs image: no crash, no hang, a closed ledger or a reason; nothing found in what btrfs check passes.
. "$(dirname "$0")/lib.sh"
need python3 btrfs xz
if [ ! -d "${FSA_CORPUS:-}/btrfs" ]; then
	echo "skip corpus_btrfs: the public images (../shared/corpus beside the checkout) are not here"
	exit 0
fi
instrumented || exit 0
python3 "$TOP/tests/oracle/corpus.py" "$FSA_CORPUS/btrfs" -- btrfs check --readonly IMAGE
