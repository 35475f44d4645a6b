# SPDX-License-Identifier: GPL-2.0-only
# Reiser4 without tails: each file has blocks of its own, and the nodes have checksums (node41).
"$FSASSAY" populate --fs reiser4 --engine lib --collection size-1K --files 12 --file-size 2500 --size 2M --mkfs-options \
	"-o create=reg40,formatting=extents,node=node41 -L extents -U 11111111-0000-4000-8000-000000000007" --manifest "$MANIFEST" "$IMAGE" >/dev/null
cp "$IMAGE" "$IMAGE.copy"
fsck.reiser4 --check -y -f "$IMAGE.copy" >"$IMAGE.fsck" 2>&1 </dev/null || { cat "$IMAGE.fsck" >&2; exit 1; }
