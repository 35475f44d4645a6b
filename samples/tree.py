#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The small tree of the samples, and a manifest of any tree.

tree.py fill DIR            makes the tree: text that compresses well, and one of each kind of thing
tree.py manifest DIR [DF]   what the kernel shows there, in the form of `fsassay populate`'s manifests; DF: as `df` wrote it, of a
                            writable mount, where there may be less free than of the read-only one
tree.py df DIR              statfs of it
"""
import base64
import fcntl
import hashlib
import json
import os
import stat
import struct
import sys

SEED = 20240229
LINE = b'%06d: the quick brown fox jumps over the lazy dog, and the ledger still adds up.\n'


def words(size):
    lines = b''.join(LINE % i for i in range(size // (len(LINE) + 2) + 2))
    return lines[:size]


def acl(*entries):
    return struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *e) for e in entries)


USER_OBJ, USER, GROUP_OBJ, MASK, OTHER, NOBODY = 1, 2, 4, 16, 32, 0xffffffff


def put(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as f:
        f.write(data)


def attribute(path, name, value):
    """Not every filesystem holds every attribute; the manifest tells which came to be."""
    try:
        os.setxattr(path, name, value, follow_symlinks=False)
    except OSError as e:
        print('%s: %s: %s' % (path, name, e.strerror), file=sys.stderr)


def fill(root):
    os.umask(0o022)
    for size in (0, 1, 59, 60, 61, 100, 160, 500, 1023, 1024, 1025, 4095, 4096, 4097, 20000, 70000, 300000):
        put('%s/sizes/%06d' % (root, size), words(size))
    for i in range(120):
        put('%s/many/entry-with-a-longer-name-%03d' % (root, i), words(40 * (i % 9)))
    for i in range(120, 180):
        put('%s/many/%03d' % (root, i), b'')
    for i in range(0, 120, 3):
        os.unlink('%s/many/entry-with-a-longer-name-%03d' % (root, i))
    deep = root + '/deep/' + '/'.join('d%d' % i for i in range(20))
    put(deep + '/bottom', b'here\n')
    names = root + '/names'
    for name in (b'space inside', b'tab\tnew\nline', b'back\\slash', b'not-utf8-\xff\xfe', 'häßlich-名前'.encode(), b'-dash',
                 b'x' * 255, b'...', b'quote"\''):
        put(names.encode() + b'/' + name, name)
    os.mkdir(root + '/links')
    put(root + '/links/first', words(5000))
    os.link(root + '/links/first', root + '/links/second')
    os.link(root + '/links/first', root + '/deep/third')
    os.symlink('first', root + '/links/short')
    os.symlink('../' * 4 + 'x' * 80, root + '/links/long')
    os.symlink(b'\xff\nodd', root + '/links/odd')
    os.mkdir(root + '/nodes')
    os.mkfifo(root + '/nodes/fifo')
    os.mknod(root + '/nodes/null', stat.S_IFCHR | 0o666, os.makedev(1, 3))
    os.mknod(root + '/nodes/large', stat.S_IFBLK | 0o660, os.makedev(300, 70000))
    with open(root + '/sparse', 'wb') as f:
        f.write(words(3000))
        f.seek(1 << 20)
        f.write(words(3000))
        f.seek(69 << 20)
        f.write(b'end')
    with open(root + '/allocated', 'wb') as f:
        f.write(words(10000))
        try:
            os.posix_fallocate(f.fileno(), 0, 40960)
        except OSError:
            os.ftruncate(f.fileno(), 40960)     # so that all samples hold the same
    put(root + '/attributes/file', words(100))
    attribute(root + '/attributes/file', 'user.comment', b'short')
    attribute(root + '/attributes/file', 'user.longer', words(400))
    attribute(root + '/attributes/file', 'trusted.of.root', b'\x00\x01')
    put(root + '/attributes/same', b'')
    attribute(root + '/attributes/same', 'user.longer', words(700))
    put(root + '/attributes/same2', b'')
    attribute(root + '/attributes/same2', 'user.longer', words(700))
    put(root + '/attributes/acl', b'guarded\n')
    attribute(root + '/attributes/acl', 'system.posix_acl_access',
              acl((USER_OBJ, 6, NOBODY), (USER, 4, 1000), (GROUP_OBJ, 4, NOBODY), (MASK, 4, NOBODY), (OTHER, 0, NOBODY)))
    os.mkdir(root + '/attributes/dir')
    attribute(root + '/attributes/dir', 'system.posix_acl_default',
              acl((USER_OBJ, 7, NOBODY), (USER, 5, 70000), (GROUP_OBJ, 5, NOBODY), (MASK, 5, NOBODY),
                  (OTHER, 0, NOBODY)))
    os.chown(root + '/sizes/000100', 1000, 1000)
    os.chown(root + '/sizes/004096', 3000000000, 70000)
    os.chmod(root + '/sizes/000100', 0o4755)
    os.chmod(root + '/sizes/000160', 0o000)
    when = SEED
    for folder, dirs, files in os.walk(root, topdown=False):
        for name in sorted(files) + sorted(d for d in dirs if os.path.islink(os.path.join(folder, d))):
            when = (when * 1103515245 + 12345) % (1 << 31)
            os.utime(os.path.join(folder, name), ns=(when * 10 ** 9, when * 10 ** 9 + when % 10 ** 9), follow_symlinks=False)
        when = (when * 1103515245 + 12345) % (1 << 31)
        os.utime(folder, ns=(when * 10 ** 9, when * 10 ** 9 + when % 10 ** 9))


KINDS = {stat.S_IFREG: 'file', stat.S_IFDIR: 'directory', stat.S_IFLNK: 'symlink', stat.S_IFIFO: 'fifo',
         stat.S_IFCHR: 'char', stat.S_IFBLK: 'block', stat.S_IFSOCK: 'socket'}


def name(entry, key, value):
    try:
        entry[key] = value.decode()
    except UnicodeDecodeError:
        entry[key] = value.decode('utf-8', 'backslashreplace')
        entry[key + '_base64'] = base64.b64encode(value).decode()


FIBMAP = 1


def unmapped(fd, st):
    """Holes by asking for each block's place, where a kernel knows no SEEK_HOLE for the filesystem (JFS)."""
    found, unit = [], os.fstatvfs(fd).f_bsize
    for block in range(-(-st.st_size // unit)):
        if struct.unpack('i', fcntl.ioctl(fd, FIBMAP, struct.pack('i', block)))[0]:
            continue
        if found and sum(found[-1]) == block * unit:
            found[-1][1] += unit
        else:
            found.append([block * unit, unit])
    return found


def holes(fd, st):
    found, at, size = [], 0, st.st_size
    if st.st_blocks * 512 < size and os.lseek(fd, 0, os.SEEK_HOLE) == size:
        return unmapped(fd, st)
    while at < size:
        start = os.lseek(fd, at, os.SEEK_HOLE)
        if start >= size:
            break
        try:
            at = os.lseek(fd, start, os.SEEK_DATA)
        except OSError:
            at = size
        found.append([start, at - start])
    return found


def statfs(root):
    v = os.statvfs(root)
    return {n: getattr(v, n) for n in ('f_bsize', 'f_frsize', 'f_blocks', 'f_bfree', 'f_bavail', 'f_files', 'f_ffree')}


def manifest(root, writable=None):
    root = os.fsencode(root)
    entries, kernel, firsts = [], [], {}
    paths = [b'.']
    for folder, dirs, files in os.walk(root):
        dirs.sort()
        paths += [os.path.relpath(os.path.join(folder, n), root) for n in dirs + files]
    for path in sorted(paths):
        full = os.path.join(root, path)
        st = os.lstat(full)
        seen = {}
        name(seen, 'path', path)
        kernel.append(dict(seen, ino=st.st_ino, blocks=st.st_blocks, size=st.st_size, nlink=st.st_nlink))
        if path == b'lost+found':
            continue
        e = dict(seen)
        kind = e['type'] = KINDS[stat.S_IFMT(st.st_mode)]
        e['mode'] = '%04o' % stat.S_IMODE(st.st_mode)
        e['uid'], e['gid'] = st.st_uid, st.st_gid
        e['mtime'] = dict(zip(('sec', 'nsec'), divmod(st.st_mtime_ns, 10 ** 9)))
        if kind == 'file':
            e['size'] = st.st_size
            with open(full, 'rb') as f:
                gaps = holes(f.fileno(), st)
                f.seek(0)
                e['sha256'] = hashlib.sha256(f.read()).hexdigest()
            # A driver that cannot tell holes leaves an empty list to whoever knows the format.
            if gaps or st.st_blocks * 512 + 4096 < st.st_size:
                e['holes'] = gaps
        if kind == 'symlink':
            name(e, 'target', os.readlink(full))
        if kind in ('char', 'block'):
            e['rdev'] = [os.major(st.st_rdev), os.minor(st.st_rdev)]
        if kind != 'directory':
            e['nlink'] = st.st_nlink
            if st.st_nlink > 1:
                name(e, 'first', firsts.setdefault((st.st_dev, st.st_ino), path))
        # XFS shows an ACL under the name by which it keeps it, too.
        attributes = {n: base64.b64encode(os.getxattr(full, n, follow_symlinks=False)).decode()
                      for n in sorted(os.listxattr(full, follow_symlinks=False)) if not n.startswith('trusted.SGI_ACL_')}
        if attributes:
            e['xattrs'] = attributes
        entries.append(e)
    kernel = {'release': os.uname().release, 'df': statfs(root), 'st': kernel}
    if writable and os.path.exists(writable):
        kernel['df_ro'] = kernel['df']
        with open(writable, encoding='utf-8') as f:
            kernel['df'] = json.load(f)
    return {'format': 1, 'entries': entries, 'kernel': kernel}


def main():
    if len(sys.argv) == 3 and sys.argv[1] == 'fill':
        fill(sys.argv[2])
    elif len(sys.argv) == 3 and sys.argv[1] == 'df':
        json.dump(statfs(sys.argv[2]), sys.stdout)
    elif len(sys.argv) in (3, 4) and sys.argv[1] == 'manifest':
        json.dump(manifest(*sys.argv[2:]), sys.stdout, indent=1)
        print()
    else:
        sys.exit(__doc__)


main()
