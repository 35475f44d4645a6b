# SPDX-License-Identifier: GPL-2.0-only
# ext4 as made by default, with quota files, an orphan file, fast commits, multi-mount protection and large attributes in inodes of
# their own. Few running kernels account quotas, so the tree comes in by mke2fs -d; a read-only mount needs no quota support.
mkdir "$IMAGE.tree"
mount -t tmpfs tmpfs "$IMAGE.tree"
python3 tree.py fill "$IMAGE.tree"
truncate -s 16M "$IMAGE"
mke2fs -q -F -t ext4 -b 1024 -N 1024 -J size=1 -O project,orphan_file,fast_commit,mmp,ea_inode -L quota \
	-E hash_seed=11111111-0000-4000-8000-00000000000f \
	-U 11111111-0000-4000-8000-000000000003 -d "$IMAGE.tree" "$IMAGE"
# Only now, so that the quota files count what is there.
tune2fs -Q usrquota,grpquota,prjquota "$IMAGE" >/dev/null
umount "$IMAGE.tree"
rmdir "$IMAGE.tree"
