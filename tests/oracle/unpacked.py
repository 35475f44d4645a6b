# SPDX-License-Identifier: GPL-2.0-only
"""A tree that GNU tar unpacked from `fsassay extract`, against the manifest of the image. Knows no format."""
import base64
import errno
import hashlib
import os
import stat

from assay import place, stored, text

TYPES = {
    'file': stat.S_IFREG, 'directory': stat.S_IFDIR, 'symlink': stat.S_IFLNK, 'fifo': stat.S_IFIFO,
    'socket': stat.S_IFSOCK, 'char': stat.S_IFCHR, 'block': stat.S_IFBLK,
}
CANNOT = (errno.ENOSPC, errno.E2BIG, errno.ERANGE, errno.EOPNOTSUPP, errno.EPERM, errno.EFBIG, errno.EINVAL,
          errno.ENAMETOOLONG)


def content(path, entry):
    """True when all bytes are right; of files too large to be hashed whole, those outside the gaps."""
    digest = hashlib.sha256()
    with open(path, 'rb') as f:
        if 'sha256' in entry:
            for piece in iter(lambda: f.read(1 << 20), b''):
                digest.update(piece)
            return digest.hexdigest() == entry['sha256']
        at = 0
        for offset, length in sorted(entry.get('holes', []) + entry.get('unwritten', [])) + [(entry['size'], 0)]:
            f.seek(at)
            digest.update(f.read(max(0, offset - at)))
            at = max(at, offset + length)
    return digest.hexdigest() == entry['data_sha256']


def data_bytes(path):
    """What the filesystem it lies on holds as data, by SEEK_DATA and SEEK_HOLE."""
    total = at = 0
    fd = os.open(path, os.O_RDONLY)
    try:
        while True:
            try:
                start = os.lseek(fd, at, os.SEEK_DATA)
            except OSError as e:
                if e.errno == errno.ENXIO:
                    return total
                raise
            at = os.lseek(fd, start, os.SEEK_HOLE)
            total += at - start
    finally:
        os.close(fd)


def attributes(path):
    names = os.listxattr(path, follow_symlinks=False)
    # XFS shows its ACLs a second time, in its own form; SELinux labels whatever is made.
    return {n: os.getxattr(path, n, follow_symlinks=False) for n in names
            if not n.startswith('trusted.SGI_ACL_') and n != 'security.selinux'}


def refuses(action):
    """True when the place that was unpacked to cannot hold this, whoever asks: the kernel says so again."""
    try:
        action()
    except OSError as e:
        return e.errno in CANNOT
    return False


class Tree:
    """The comparison: `problems` are differences, `left_out` counts what this place cannot hold."""

    def __init__(self, root, unit):
        self.root = os.fsencode(root)
        self.unit = unit        # block size of the image
        self.problems = []
        self.left_out = 0
        self.holes = 0          # files with holes, for the record

    def problem(self, name, what):
        self.problems.append('%r: %s' % (name.decode('utf-8', 'backslashreplace'), what))

    def path(self, name):
        return os.path.join(self.root, name) if name else self.root

    def missing(self, name, entry, error):
        path = self.path(name)

        def make():
            kind = entry['type']
            if kind in ('char', 'block'):
                os.mknod(path, TYPES[kind] | 0o600, os.makedev(*entry['rdev']))
            elif kind == 'file':
                os.truncate(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), entry['size'])
            elif kind == 'symlink':
                os.symlink(text(entry, 'target'), path)

        if entry['type'] != 'socket' and not refuses(make):
            self.problem(name, error.strerror)
        elif entry['type'] != 'socket':
            self.left_out += 1

    def one(self, name, entry, path, st):
        kind = entry['type']
        if stat.S_IFMT(st.st_mode) != TYPES[kind]:
            self.problem(name, 'mode %o and not a %s' % (st.st_mode, kind))
            return
        if kind != 'symlink' and stat.S_IMODE(st.st_mode) != int(entry['mode'], 8):
            self.problem(name, 'mode %04o and not %s' % (stat.S_IMODE(st.st_mode), entry['mode']))
        if (st.st_uid, st.st_gid) != (entry['uid'], entry['gid']):
            self.problem(name, 'owner %d:%d and not %d:%d' % (st.st_uid, st.st_gid, entry['uid'], entry['gid']))
        if 'size' in entry and kind != 'directory' and st.st_size != entry['size']:
            self.problem(name, 'size %d and not %d' % (st.st_size, entry['size']))
        if 'rdev' in entry and [os.major(st.st_rdev), os.minor(st.st_rdev)] != entry['rdev']:
            self.problem(name, 'device %d,%d and not %r'
                         % (os.major(st.st_rdev), os.minor(st.st_rdev), entry['rdev']))
        if 'target' in entry and os.readlink(path) != text(entry, 'target'):
            self.problem(name, 'target %r and not %r' % (os.readlink(path), text(entry, 'target')))
        if 'nlink' in entry and st.st_nlink != entry['nlink']:
            self.problem(name, '%d links and not %d' % (st.st_nlink, entry['nlink']))
        if 'first' in entry and os.lstat(self.path(place(entry, 'first'))).st_ino != st.st_ino:
            self.problem(name, 'is no hard link of %r' % place(entry, 'first'))
        if kind == 'file':
            if not content(path, entry):
                self.problem(name, 'content differs')
            self.sparse(name, entry, path, st)

    def sparse(self, name, entry, path, st):
        if 'holes' not in entry and 'unwritten' not in entry:
            return
        # A block of the place that holds any byte of a stored range is data, and so may be no other.
        grain = st.st_blksize if st.st_blksize <= 65536 else 4096
        most = at = 0
        for start, end in stored(entry, self.unit):
            start, end = max(at, start // grain * grain), min(-(-end // grain) * grain, entry['size'])
            most += max(0, end - start)
            at = max(at, end)
        held = data_bytes(path)
        self.holes += 1
        if held > most:
            self.problem(name, '%d bytes are stored, %d need be: holes are lost' % (held, most))

    def xattrs(self, name, entry, path):
        want = {n: base64.b64decode(v) for n, v in entry.get('xattrs', {}).items()}
        have = attributes(path)
        for n, v in want.items():
            if have.get(n) == v:
                continue
            if n not in have and refuses(lambda n=n, v=v: os.setxattr(path, n, v, follow_symlinks=False)):
                self.left_out += 1
            else:
                self.problem(name, 'attribute %s is %r and not %r' % (n, have.get(n), v))
        for n in set(have) - set(want):
            self.problem(name, 'attribute %s = %r is not in the image' % (n, have[n]))

    def time(self, name, entry, path, mtime):
        if 'mtime' not in entry:
            return
        want = entry['mtime']['sec'] * 10 ** 9 + entry['mtime']['nsec']
        if mtime == want:
            return
        os.utime(path, ns=(want, want), follow_symlinks=False)
        if os.lstat(path).st_mtime_ns != want:
            self.left_out += 1
        else:
            self.problem(name, 'mtime %d.%09d and not %d.%09d' % (divmod(mtime, 10 ** 9) + divmod(want, 10 ** 9)))

    def compare(self, entries, may_be_there=()):
        """`may_be_there`: names that the format itself makes, such as lost+found."""
        found = []
        # Times first: what comes after may change those of directories.
        for entry in entries:
            name = place(entry)
            try:
                found.append((name, entry, os.lstat(self.path(name))))
            except OSError as e:
                self.missing(name, entry, e)
        for name, entry, st in found:
            path = self.path(name)
            try:
                self.one(name, entry, path, st)
                self.xattrs(name, entry, path)
                self.time(name, entry, path, st.st_mtime_ns)
            except OSError as e:
                self.problem(name, 'cannot be compared: %s' % e.strerror)
        known = {place(e) for e in entries} | set(may_be_there)
        for folder, dirs, files in os.walk(self.root):
            for n in dirs + files:
                name = os.path.relpath(os.path.join(folder, n), self.root)
                if name not in known:
                    self.problem(name, 'is not in the image')
        return self.problems
