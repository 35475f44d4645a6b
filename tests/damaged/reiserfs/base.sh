# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Small healthy images, the same each time, and the tool that damages copies of them.

make_bases() {
	python3 "$TOP/tests/oracle/reiserfs_make.py" base block=1024 names=20 >/dev/null &&
		python3 "$TOP/tests/oracle/reiserfs_make.py" pending block=1024 names=4 pending=2 >/dev/null
}

# edit WORD...: see edit.py.
edit() {
	python3 "$TOP/tests/damaged/reiserfs/edit.py" "$IMAGE" "$@"
}
