# SPDX-License-Identifier: GPL-2.0-only
# sh uml.sh TYPE MOUNT-OPTIONS: fills $IMAGE with the tree of tree.py and writes $MANIFEST, both by the driver TYPE of user-mode
# Linux, for filesystems that the running kernel may lack.
set -eu
type=$1 options=$2
here=$(pwd)
init=$IMAGE.init
cat >"$init" <<X
#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
mount -t proc proc /proc
mount -t tmpfs tmpfs /mnt
mkdir /mnt/m
mknod /mnt/b b 98 16
mount -t $type -o $options /mnt/b /mnt/m && python3 $here/tree.py fill /mnt/m && umount /mnt/m &&
	mount -t $type -o ro,$options /mnt/b /mnt/m && python3 $here/tree.py manifest /mnt/m >$MANIFEST && umount /mnt/m && echo FILLED
echo o >/proc/sysrq-trigger
sleep 9
X
chmod +x "$init"
LD_PRELOAD=$BUILD/uml_ptrace.so timeout 150 linux.uml mem=256M root=/dev/root rootfstype=hostfs rootflags=/ rw init="$init" con=null \
	con0=fd:0,fd:1 quiet ubdb="$IMAGE" </dev/null >"$IMAGE.log" 2>&1 || true
grep -q FILLED "$IMAGE.log" || { tail -n 20 "$IMAGE.log" >&2; exit 1; }
