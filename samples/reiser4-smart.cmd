# SPDX-License-Identifier: GPL-2.0-only
# Reiser4 with plain files and the tail policy "smart": what is below four blocks lies in tails, whole files of 1500 bytes here.
"$FSASSAY" populate --fs reiser4 --engine lib --collection size-1K --files 20 --file-size 1500 --size 2M \
	--mkfs-options "-o create=reg40 -L smart -U 11111111-0000-4000-8000-000000000006" --manifest "$MANIFEST" "$IMAGE" >/dev/null
cp "$IMAGE" "$IMAGE.copy"
fsck.reiser4 --check -y -f "$IMAGE.copy" >"$IMAGE.fsck" 2>&1 </dev/null || { cat "$IMAGE.fsck" >&2; exit 1; }
