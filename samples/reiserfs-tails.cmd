# SPDX-License-Identifier: GPL-2.0-only
# ReiserFS 3.6 as made by default, mounted with tails=on: every tail that fits is packed, of large files too.
truncate -s 40M "$IMAGE"
mkfs.reiserfs -q -f -l tails -u 11111111-0000-4000-8000-000000000004 "$IMAGE" >/dev/null 2>&1
./in-uml reiserfs tails=on,user_xattr,acl 'python3 tree.py fill "$MOUNT"'
./in-uml reiserfs ro,tails=on,user_xattr,acl 'python3 tree.py manifest "$MOUNT" >"$MANIFEST"'
python3 ../tests/oracle/reiserfs_items.py manifest "$IMAGE" "$MANIFEST" "$MANIFEST.holes"
mv "$MANIFEST.holes" "$MANIFEST"
yes Yes | reiserfsck --check "$IMAGE" >"$IMAGE.fsck" 2>&1 || { cat "$IMAGE.fsck" >&2; exit 1; }
