#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# time limit: 600
# Every public ext image: no crash, no hang, a closed ledger or a reason; nothing found in what e2fsck passes.
. "$(dirname "$0")/lib.sh"
need python3 e2fsck xz
if [ ! -d "${FSA_CORPUS:-}/ext" ]; then
	echo "skip corpus_ext: the public images (../shared/corpus beside the checkout) are not here"
	exit 0
fi
instrumented || exit 0
# With -n e2fsck answers its own questions and may leave with status 0 all the same; of a superblock that it gave up it says so.
# A journal that waits for recovery is a finding by design; e2fsck -n skips it with a warning.
python3 "$TOP/tests/oracle/corpus.py" "$FSA_CORPUS/ext" --complaint '[?] no|Superblock invalid' \
	--pending 'skipping journal recovery' --allow 'journal' --known "$TOP/tests/oracle/corpus_ext.known" -- e2fsck -fn IMAGE
