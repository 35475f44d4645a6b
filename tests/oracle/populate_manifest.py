#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Manifests against each other and against a mounted tree.

populate_manifest.py same MANIFEST...     the same tree in all of them
populate_manifest.py tree MANIFEST DIR    what the kernel shows is the tree
"""
import base64
import hashlib
import json
import os
import stat
import sys

TYPES = {
    'file': stat.S_IFREG, 'directory': stat.S_IFDIR,
    'symlink': stat.S_IFLNK, 'fifo': stat.S_IFIFO,
    'socket': stat.S_IFSOCK, 'char': stat.S_IFCHR, 'block': stat.S_IFBLK,
}


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def name(entry, key):
    if key + '_base64' in entry:
        return base64.b64decode(entry[key + '_base64'])
    return entry[key].encode()


def same(paths):
    first = load(paths[0])
    wanted = {name(e, 'path'): e for e in first['entries']}
    problems = []
    for path in paths[1:]:
        other = {name(e, 'path'): e for e in load(path)['entries']}
        for p in sorted(set(wanted) | set(other)):
            if wanted.get(p) != other.get(p):
                problems.append('%s: %r differs' % (path, p))
    return problems


def content(path, entry):
    digest = hashlib.sha256()
    with open(path, 'rb') as f:
        if 'sha256' in entry:
            for piece in iter(lambda: f.read(1 << 20), b''):
                digest.update(piece)
            return digest.hexdigest() == entry['sha256']
        gaps = sorted(entry.get('holes', []) + entry.get('unwritten', []))
        at = 0
        for offset, length in gaps + [[entry['size'], 0]]:
            f.seek(at)
            digest.update(f.read(offset - at))
            at = offset + length
    return digest.hexdigest() == entry['data_sha256']


def attributes(path):
    names = os.listxattr(path, follow_symlinks=False)
    # XFS shows its lists a second time, in its own form.
    return {n: os.getxattr(path, n, follow_symlinks=False) for n in names
            if not n.startswith('trusted.SGI_ACL_')}


def differences(root, entry):
    path = os.path.join(root, name(entry, 'path'))
    st = os.lstat(path)
    kind = entry['type']
    if stat.S_IFMT(st.st_mode) != TYPES[kind]:
        yield 'type'
    if kind != 'symlink' and '%04o' % stat.S_IMODE(st.st_mode) != entry['mode']:
        yield 'mode'
    if (st.st_uid, st.st_gid) != (entry['uid'], entry['gid']):
        yield 'owner'
    # Not every filler keeps them (mkfs.xfs -p).
    time = entry.get('mtime')
    if time and divmod(st.st_mtime_ns, 10 ** 9) != (time['sec'], time['nsec']):
        yield 'mtime'
    if entry.get('size', st.st_size) != st.st_size:
        yield 'size'
    if entry.get('nlink', st.st_nlink) != st.st_nlink:
        yield 'nlink'
    if 'first' in entry and \
            os.lstat(os.path.join(root, name(entry, 'first'))).st_ino != st.st_ino:
        yield 'hard link'
    if 'target' in entry and os.readlink(path) != name(entry, 'target'):
        yield 'target'
    if 'rdev' in entry and \
            [os.major(st.st_rdev), os.minor(st.st_rdev)] != entry['rdev']:
        yield 'rdev'
    xattrs = {n: base64.b64decode(v) for n, v in entry.get('xattrs', {}).items()}
    if attributes(path) != xattrs:
        yield 'xattrs'
    if kind == 'file' and not content(path, entry):
        yield 'content'


def tree(manifest, root):
    root = os.fsencode(root)
    problems = []
    known = set()
    for entry in load(manifest)['entries']:
        path = name(entry, 'path')
        known.add(path)
        try:
            problems += ['%r: %s' % (path, d) for d in differences(root, entry)]
        except OSError as e:
            problems.append('%r: %s' % (path, e.strerror))
    for directory, dirs, files in os.walk(root):
        for n in dirs + files:
            path = os.path.relpath(os.path.join(directory, n), root)
            if path not in known and path != b'lost+found':
                problems.append('%r: not in the manifest' % path)
    return problems


def main():
    if len(sys.argv) > 3 and sys.argv[1] == 'same':
        problems = same(sys.argv[2:])
    elif len(sys.argv) == 4 and sys.argv[1] == 'tree':
        problems = tree(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
    if problems:
        print('%d differences, first: %s' % (len(problems), problems[0]))
        sys.exit(1)


main()
