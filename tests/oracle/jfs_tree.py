#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A tree as the kernel listed it (find -printf) against fsassay's listing and archive.

jfs_tree.py LIST SUMS IMAGE [OPTION...]     OPTIONs go to every fsassay command

LIST: records "path\\0type mode uid gid links size blocks inode mtime target\\0"; SUMS: "sha256  path" records, each
ended by NUL, of the regular files. Prints what differs.
"""
import hashlib
import io
import os
import subprocess
import sys
import tarfile

from assay import command, fsassay_json, place

TYPES = {'f': 'file', 'd': 'directory', 'l': 'symlink', 'p': 'fifo', 'c': 'chardev', 'b': 'blockdev', 's': 'socket'}


def main():
    with open(sys.argv[1], 'rb') as f:
        fields = f.read().split(b'\0')[:-1]
    with open(sys.argv[2], 'rb') as f:
        sums = {r[66:].removeprefix(b'./'): r[:64].decode() for r in f.read().split(b'\0') if r}
    words = sys.argv[4:] + [sys.argv[3]]
    rows = fsassay_json(['ls', '-lRJ', *words])['entries'] + fsassay_json(['ls', '-ldJ', *words, '/'])['entries']
    listing = {place(r): r for r in rows}
    wrong, seen = [], set()
    for path, rest in zip(fields[::2], fields[1::2]):
        path = path.removeprefix(b'.').strip(b'/')
        seen.add(path)
        kind, mode, uid, gid, links, size, blocks, inode, mtime, target = rest.split(b' ', 9)
        r = listing.get(path)
        if r is None:
            wrong.append('%r: not listed' % path)
            continue
        have = [r['type'], r['mode'].lstrip('0'), r['uid'], r['gid'], r['links'], r['size'], r['st_blocks'], r['inode'],
                '%d.%09d' % (r['mtime_sec'], r['mtime_nsec'])]
        want = [TYPES[kind.decode()], mode.decode(), int(uid), int(gid), int(links), int(size), int(blocks), int(inode),
                mtime.decode()[:-1]]
        if have != want:
            wrong.append('%r: %r and not %r' % (path, have, want))
    wrong += ['%r: the kernel does not show it' % p for p in set(listing) - seen]
    out = subprocess.run(command(['extract', *words]), capture_output=True).stdout
    first = {}
    with tarfile.open(fileobj=io.BytesIO(out), mode='r|', errors='surrogateescape') as tar:
        for member in tar:
            name = os.fsencode(member.name).strip(b'/')
            if member.isreg():
                digest = hashlib.sha256()
                if not member.sparse and member.size < 1 << 28:
                    digest.update(tar.extractfile(member).read())
                    first[name] = digest.hexdigest()
            elif member.islnk():
                first[name] = first.get(os.fsencode(member.linkname).strip(b'/'))
    for path, digest in sums.items():
        if path in first and first[path] not in (None, digest):
            wrong.append('%r: other contents' % path)
    if len(sums) < len(first):
        wrong.append('%d files in the archive, %d in the image' % (len(first), len(sums)))
    for w in wrong[:4]:
        print(w)
    if len(wrong) > 4:
        print('and %d more' % (len(wrong) - 4))


main()
