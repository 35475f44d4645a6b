#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# seeds_reiserfs.sh DIR: small ReiserFS images of both formats: all kinds of items, all hashes, a journal with work in it.
set -u
dir=$1
make=$(cd "$(dirname "$0")/../oracle" && pwd)/reiserfs_make.py
seed() { # NAME WORD...
	python3 "$make" "$dir/$1" journal=64 "${@:2}" >/dev/null || { echo "seeds_reiserfs.sh: $1 cannot be made" >&2; rm -f "$dir/$1"; }
}
seed v36 block=512 size=262144 names=20
seed v35 block=512 format=3.5 size=262144 names=20 hash=unset
seed tea block=512 size=262144 names=8 hash=tea
seed rupasov block=1024 size=262144 names=8 hash=rupasov
seed work block=512 size=262144 names=4 pending=2 safe-links deleted
seed old-place block=512 place=old format=3.5 size=196608 names=4
seed deep block=512 size=393216 names=90
