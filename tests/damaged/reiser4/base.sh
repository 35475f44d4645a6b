# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Small healthy images, the same each time but for the number that mkfs.reiser4 takes, and the tool that damages copies.

make_base() { # NAME MKFS-OPTIONS POPULATE-OPTION...
	"$FSASSAY" populate --fs reiser4 --engine lib --size 256K --mkfs-options "-o $2" "${@:3}" "$1" >/dev/null 2>&1
}

make_bases() {
	make_base tails create=reg40,formatting=tails --collection size-1K --files 20 &&
		make_base extents create=reg40,formatting=extents,node=node41 --collection size-1K --files 12 &&
		make_base lzo1 create=ccreg40 --collection size-10K --files 4 &&
		make_base packed create=ccreg40,compress=gzip1 --collection mixed --files 1 --size 64M
}

# edit WORD...: see edit.py.
edit() {
	python3 "$TOP/tests/damaged/reiser4/edit.py" "$IMAGE" "$@"
}
