# SPDX-License-Identifier: GPL-2.0-only
# ReiserFS 3.6 with the smallest journal and directories in order of the tea hash; only files below a block have tails.
truncate -s 8M "$IMAGE"
mkfs.reiserfs -q -f -h tea -s 513 -l tea -u 11111111-0000-4000-8000-000000000005 "$IMAGE" >/dev/null 2>&1
./in-uml reiserfs user_xattr,acl 'python3 tree.py fill "$MOUNT"'
./in-uml reiserfs ro,user_xattr,acl 'python3 tree.py manifest "$MOUNT" >"$MANIFEST"'
python3 ../tests/oracle/reiserfs_items.py manifest "$IMAGE" "$MANIFEST" "$MANIFEST.holes"
mv "$MANIFEST.holes" "$MANIFEST"
yes Yes | reiserfsck --check "$IMAGE" >"$IMAGE.fsck" 2>&1 || { cat "$IMAGE.fsck" >&2; exit 1; }
