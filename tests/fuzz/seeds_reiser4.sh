#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# seeds_reiser4.sh DIR: small Reiser4 images, filled by libreiser4: tails, extents, each compression, both kinds of nodes.
set -u
dir=$1
program=${FSASSAY:-$(cd "$(dirname "$0")/../.." && pwd)/build/fsassay}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
seed() { # NAME MKFS-OPTIONS POPULATE-OPTION...
	"$program" populate --fs reiser4 --engine lib --mkfs-options "-o $2" --size 256K "${@:3}" "$work/image" >/dev/null 2>&1 &&
		mv "$work/image" "$dir/$1" || echo "seeds_reiser4.sh: $1 cannot be made" >&2
	rm -f "$work"/*
}
seed tails create=reg40,formatting=tails --collection size-1K --files 20
seed many create=reg40 --collection size-100B --files 300
seed extents create=reg40,formatting=extents,node=node41 --collection size-1K --files 12
seed lzo1 create=ccreg40 --collection size-10K --files 4
seed gzip1 create=ccreg40,compress=gzip1,cluster=4K,node=node41 --collection size-10K --files 6
seed zstd1 create=ccreg40,compress=zstd1,cluster=4K --collection size-10K --files 6
