#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The archive that `fsassay extract` should write, made anew of what a kernel shows of the mounted image. Knows no format.

canonical_tar.py ARCHIVE ROOT [--holes MANIFEST BLOCK-SIZE] [--facts MANIFEST] >CANONICAL

Of ARCHIVE only the order is taken: of its members, and of the attributes of one. All else is asked of the kernel: names,
lstat, links, attributes, where data is (SEEK_DATA) and the data. --holes is for a driver that cannot tell where data is: then
the holes are those of ARCHIVE, each of which must be one of the manifest, and of that the manifest may have no more than the
part of one block that stands in a packed tail. --facts is for a
format that no kernel has: all is that of the manifest then, but access and change times, which it does not tell, and the data,
which is that of ARCHIVE with the SHA-256 of the manifest. Exit status 1 with the place when the bytes of ARCHIVE are others.
"""
import base64
import hashlib
import os
import stat
import struct
import sys
import tarfile
import types

from assay import load, place, stored, text

BLOCK, RECORD = 512, 64 * 512
LEAST_HOLE = 512
KINDS = {stat.S_IFREG: b'0', stat.S_IFLNK: b'2', stat.S_IFCHR: b'3', stat.S_IFBLK: b'4', stat.S_IFDIR: b'5',
         stat.S_IFIFO: b'6'}
NAMES = {'file': stat.S_IFREG, 'symlink': stat.S_IFLNK, 'char': stat.S_IFCHR, 'block': stat.S_IFBLK,
         'directory': stat.S_IFDIR, 'fifo': stat.S_IFIFO}
PIECE = 1 << 20


class Differs(Exception):
    pass


class Out:
    """Writes, and compares with the archive byte by byte."""

    def __init__(self, archive):
        self.archive, self.at, self.member = open(archive, 'rb'), 0, b''

    def put(self, data):
        have = self.archive.read(len(data))
        if have != data:
            n = next((i for i, (a, b) in enumerate(zip(have, data)) if a != b), min(len(have), len(data)))
            raise Differs('%r: byte %d: the archive has %r, and should have %r'
                          % (self.member, self.at + n, have[max(0, n - 40):n + 40], data[max(0, n - 40):n + 40]))
        sys.stdout.buffer.write(data)
        self.at += len(data)

    def pad(self, unit):
        self.put(bytes(-self.at % unit))


def number(value, size):
    """Octal, or base 256 where that is too short."""
    if value < 8 ** (size - 1):
        return b'%0*o\0' % (size - 1, value)
    return b'\x80' + value.to_bytes(size - 1, 'big')


def header(name, kind, mode=0, uid=0, gid=0, size=0, mtime=0, link=b'', device=None):
    major, minor = (number(n, 8) for n in device) if device else (b'', b'')
    block = bytearray(struct.pack('100s8s8s8s12s12s8sc100s6s2s32s32s8s8s155s12s', name[:100], number(mode, 8), number(uid, 8),
                                  number(gid, 8), number(size, 12), number(mtime, 12), b' ' * 8, kind, link[:100], b'ustar\0',
                                  b'00', b'', b'', major, minor, b'', b''))
    block[148:155] = b'%06o\0' % sum(block)
    return bytes(block)


def record(key, value):
    bare = len(key) + len(value) + 3
    length = bare + len(str(bare))
    length = bare + len(str(length))
    return b'%d %s=%s\n' % (length, key, value)


def decimal(ns):
    seconds, rest = divmod(abs(ns), 10 ** 9)
    return b'%s%d%s' % (b'-' if ns < 0 else b'', seconds, (b'.%09d' % rest).rstrip(b'0') if rest else b'')


def is_long(name):
    return len(name) > 100 or any(c >= 0x80 for c in name)


def is_utf8(name):
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def acl(value):
    """The text of an ACL as the kernel hands it out."""
    tags = {1: 'user', 2: 'user', 4: 'group', 8: 'group', 16: 'mask', 32: 'other'}
    entries = []
    for tag, perm, who in struct.iter_unpack('<HHI', value[4:]):
        bits = ''.join(c if perm & b else '-' for c, b in (('r', 4), ('w', 2), ('x', 1)))
        entries.append('%s:%s:%s' % (tags[tag], who if tag in (2, 8) else '', bits))
    return ','.join(entries).encode()


class Source:
    """What the kernel says of one path, or the manifest in its stead."""

    def __init__(self, root, holes, unit, facts):
        self.root, self.unit = os.fsencode(root), unit
        self.holes = {place(e): e for e in holes['entries']} if holes else None
        self.facts = {place(e): e for e in facts['entries']} if facts else None

    def path(self, name):
        return os.path.join(self.root, name) if name else self.root

    def names(self):
        if self.facts is not None:
            return {n for n, e in self.facts.items() if e['type'] != 'socket'} | {b''}
        found = {b''}
        for folder, dirs, files in os.walk(self.root):
            found |= {os.path.relpath(os.path.join(folder, n), self.root) for n in dirs + files}
        return {n for n in found if not stat.S_ISSOCK(os.lstat(self.path(n)).st_mode)}

    def stat(self, name, member):
        if self.facts is not None:
            e = self.facts[name]
            st = types.SimpleNamespace(st_mode=NAMES[e['type']], st_nlink=e.get('nlink', 1), st_rdev=os.makedev(*e.get('rdev', (0, 0))),
                                       st_ino=place(e, 'first') if 'first' in e else name)
            return st, (int(e['mode'], 8), e['uid'], e['gid'], e['mtime']['sec'] * 10 ** 9 + e['mtime']['nsec'],
                        *(ns_of(member.pax_headers[k]) for k in ('atime', 'ctime')))
        st = os.lstat(self.path(name))
        return st, (st.st_mode & 0o7777, st.st_uid, st.st_gid, st.st_mtime_ns, st.st_atime_ns, st.st_ctime_ns)

    def attributes(self, name):
        if self.facts is not None:
            return {n: base64.b64decode(v) for n, v in self.facts[name].get('xattrs', {}).items()}
        path = self.path(name)
        names = os.listxattr(path, follow_symlinks=False)
        # ReiserFS looks for attributes under the inode's generation, and has none of a device on disk: once unmounted,
        # it finds those of devices no more, though they are there (inode.c, init_inode and reiserfs_new_inode).
        if not names and self.holes is not None and 'rdev' in self.holes[name]:
            return {n: base64.b64decode(v) for n, v in self.holes[name].get('xattrs', {}).items()}
        # XFS shows its ACLs a second time, in its own form; SELinux labels what it sees.
        return {n: os.getxattr(path, n, follow_symlinks=False) for n in names
                if not n.startswith('trusted.SGI_ACL_') and n != 'security.selinux'}

    def known(self, name, member, size):
        """The stretches of the archive, when they can be those of the manifest."""
        e = self.holes[name]
        found = [[a, n] for a, n in (member.sparse or [(0, size)]) if n]
        gaps = sorted((a, a + n) for a, n in e.get('holes', []) + e.get('unwritten', []))
        for at, end in zip([0] + [a + n for a, n in found], [a for a, _ in found] + [size]):
            for start, stop in gaps:
                if start <= at < stop:
                    at = stop
            if at < end:
                raise Differs('%r: a hole up to %d, which is data from %d on' % (name, end, at))
        if self.facts is None and sum(n for _, n in found) - sum(b - a for a, b in stored(e, self.unit)) >= self.unit:
            raise Differs('%r: holes are lost: data is %r' % (name, found))
        return found

    def pieces(self, name, member, size):
        found = []
        if self.holes is not None:
            found = self.known(name, member, size)
        else:
            fd = os.open(self.path(name), os.O_RDONLY | os.O_NOATIME)
            at = 0
            while at < size:
                try:
                    at = os.lseek(fd, at, os.SEEK_DATA)
                except OSError:
                    break
                end = min(os.lseek(fd, at, os.SEEK_HOLE), size)
                found.append([at, end - at])
                at = end
            os.close(fd)
        merged = []
        for at, length in found:
            if merged and at - sum(merged[-1]) < LEAST_HOLE:
                merged[-1][1] = at + length - merged[-1][0]
            else:
                merged.append([at, length])
        if merged and merged[0][0] < LEAST_HOLE:
            merged[0] = [0, sum(merged[0])]
        if merged and size - sum(merged[-1]) < LEAST_HOLE:
            merged[-1][1] = size - merged[-1][0]
        return merged


    def target(self, name):
        return os.readlink(self.path(name)) if self.facts is None else text(self.facts[name], 'target')

    def reader(self, name, order, member):
        """A function of place and length, the size, and what to close."""
        if self.facts is None:
            fd = os.open(self.path(name), os.O_RDONLY | os.O_NOATIME)
            return lambda at, n: os.pread(fd, n, at), os.fstat(fd).st_size, lambda: os.close(fd)
        f, e = order.extractfile(member), self.facts[name]
        digest, at = hashlib.sha256(), 0
        gaps = sorted(e.get('holes', []) + e.get('unwritten', [])) if 'sha256' not in e else []
        for start, length in gaps + [(e['size'], 0)]:
            f.seek(at)
            digest.update(f.read(max(0, start - at)))
            at = max(at, start + length)
        if digest.hexdigest() != e.get('sha256', e.get('data_sha256')):
            raise Differs('%r: data is not that of the manifest' % name)

        def read(place_in_file, n):
            f.seek(place_in_file)
            return f.read(n)
        return read, e['size'], f.close


def ns_of(string):
    whole, _, rest = string.lstrip('-').partition('.')
    ns = int(whole) * 10 ** 9 + int(rest.ljust(9, '0'))
    return -ns if string.startswith('-') else ns


def attribute_records(source, name, member):
    have, out = source.attributes(name), []
    for key in member.pax_headers:
        if key.startswith('SCHILY.acl.'):
            value = have.pop('system.posix_acl_' + key[11:], None)
            if value is not None:
                out.append(record(key.encode(), acl(value)))
        elif key.startswith('SCHILY.xattr.'):
            value = have.pop(key[13:].replace('%3D', '=').replace('%25', '%'), None)
            if value is not None:
                out.append(record(os.fsencode(key), value))
    # What the archive has not stands at the end, so that the comparison fails there.
    return b''.join(out) + b''.join(record(b'SCHILY.xattr.' + n.encode(), v) for n, v in sorted(have.items()))


def entry(out, source, order, member, name, first):
    """One member: header, records, data."""
    st, (mode, uid, gid, mtime, atime, ctime) = source.stat(name, member)
    kind = KINDS[stat.S_IFMT(st.st_mode)]
    path = b'./' + name if name else b'.'
    link, pieces, size, sparse, extra = b'', [], 0, False, b''
    full = path + (b'/' if kind == b'5' else b'')
    close = None
    earlier = first.setdefault(st.st_ino, path) if st.st_nlink > 1 and kind != b'5' else path
    if earlier != path:
        kind, link = b'1', earlier
    else:
        extra = attribute_records(source, name, member)
        if kind == b'2':
            link = source.target(name)
        elif kind == b'0':
            read, size, close = source.reader(name, order, member)
            pieces = source.pieces(name, member, size)
            sparse = pieces != [[0, size]] if pieces else size >= LEAST_HOLE
            if not sparse:
                pieces = [[0, size]]
    lines = b''
    if sparse:
        shown = pieces + ([[size, 0]] if not pieces or sum(pieces[-1]) < size else [])
        lines = b'%d\n' % len(shown) + b''.join(b'%d\n%d\n' % tuple(p) for p in shown)
        lines += bytes(-len(lines) % BLOCK)
    kept = len(lines) + sum(n for _, n in pieces)
    records = []
    if (is_long(full) and not is_utf8(full)) or (is_long(link) and not is_utf8(link)):
        records.append(record(b'hdrcharset', b'BINARY'))
    if sparse:
        records += [record(b'GNU.sparse.major', b'1'), record(b'GNU.sparse.minor', b'0'), record(b'GNU.sparse.name', full),
                    record(b'GNU.sparse.realsize', b'%d' % size)]
    elif is_long(full):
        records.append(record(b'path', full))
    if is_long(link):
        records.append(record(b'linkpath', link))
    for key, value, most in ((b'size', kept, 8 ** 11 - 1), (b'uid', uid, 8 ** 7 - 1), (b'gid', gid, 8 ** 7 - 1)):
        if value > most:
            records.append(record(key, b'%d' % value))
    records += [record(b'mtime', decimal(mtime)), record(b'atime', decimal(atime)), record(b'ctime', decimal(ctime)), extra]
    records = b''.join(records)
    out.put(header(b'././@PaxHeader', b'x', mode=0o644, size=len(records)) + records)
    out.pad(BLOCK)
    shown = b'./GNUSparseFile.0/' + full.rsplit(b'/', 1)[-1] if sparse else full
    seconds = mtime // 10 ** 9
    device = (os.major(st.st_rdev), os.minor(st.st_rdev)) if kind in b'34' else (0, 0)
    out.put(header(shown, kind, mode, uid, gid, kept, seconds if 0 <= seconds < 8 ** 11 else 0, link, device) + lines)
    try:
        for at, length in pieces:
            while length:
                data = read(at, min(length, PIECE))
                if not data:
                    raise Differs('%r: ends at %d' % (name, at))
                out.put(data)
                at, length = at + len(data), length - len(data)
    finally:
        if close is not None:
            close()
    out.pad(BLOCK)


def main():
    words = sys.argv[1:]
    archive, root = words[:2]
    holes = facts = unit = None
    words = words[2:]
    while words:
        if words[0] == '--holes':
            holes, unit, words = load(words[1]), int(words[2]), words[3:]
        else:
            facts, words = load(words[1]), words[2:]
    out, source, first, seen = Out(archive), Source(root, holes, unit, facts), {}, set()
    try:
        with tarfile.open(archive, encoding='utf-8', errors='surrogateescape') as order:
            for member in order:
                out.member = os.fsencode(member.name)
                name = os.path.normpath(out.member)
                name = b'' if name == b'.' else name
                if name in seen:
                    raise Differs('%r: comes twice' % name)
                seen.add(name)
                entry(out, source, order, member, name, first)
                # tarfile keeps all it saw.
                order.members = []
        missing = source.names() - seen
        if missing:
            raise Differs('not in the archive: %r' % sorted(missing)[:5])
        out.put(bytes(2 * BLOCK))
        out.pad(RECORD)
        if out.archive.read(1):
            raise Differs('the archive goes on')
    except (Differs, OSError, KeyError) as e:
        sys.stdout.flush()
        sys.exit('%s: %s' % (type(e).__name__, e))
    sys.stdout.flush()
    print('%d members, %d bytes' % (len(seen), out.at), file=sys.stderr)


if __name__ == '__main__':
    main()
