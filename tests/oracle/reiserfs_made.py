#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""reiserfs_made.py IMAGE MANIFEST [OPTION...]: what `fsassay extract` and `stat` say of an image that reiserfs_make.py
wrote, against its manifest. Prints what differs."""
import base64
import hashlib
import io
import sys
import tarfile

import assay

TYPES = {'file': 'isreg', 'directory': 'isdir', 'symlink': 'issym', 'fifo': 'isfifo', 'char': 'ischr'}


def main():
    image, manifest, options = sys.argv[1], assay.load(sys.argv[2]), sys.argv[3:]
    status, out, said = assay.fsassay(['extract', *options, image])
    if status not in (0, 1):
        print('extract: exit status %d: %s' % (status, said[-300:]))
        return
    found = {}
    with tarfile.open(fileobj=io.BytesIO(out)) as tar:
        for m in tar.getmembers():
            name = m.name[2:] if m.name.startswith('./') else m.name
            first = m
            while first.islnk():
                first = tar.getmember(first.linkname)
            body = tar.extractfile(first).read() if first.isreg() else None
            found[name] = (first, body)
    found.pop('.', None)
    for name in sorted(set(found) ^ set(manifest)):
        print('%s is %s' % (name, 'not in the archive' if name in manifest else 'in the archive'))
    for name, want in manifest.items():
        if name not in found:
            continue
        m, body = found[name]
        if not getattr(m, TYPES[want['type']])():
            print('%s is no %s' % (name, want['type']))
        if want['type'] == 'file' and hashlib.sha256(body).hexdigest() != want['sha256']:
            print('%s: content differs' % name)
        if want['type'] == 'symlink' and m.linkname != want['target']:
            print('%s leads to %s' % (name, m.linkname))
    for name, want in manifest.items():
        if 'xattrs' not in want:
            continue
        member = found[name][0]
        have = {k[len('SCHILY.xattr.'):]: v.encode('utf-8', 'surrogateescape')
                for k, v in member.pax_headers.items() if k.startswith('SCHILY.xattr.')}
        for key, value in want['xattrs'].items():
            value = base64.b64decode(value)
            if key.startswith('user.') and have.get(key) != value:
                print('%s: attribute %s is %r' % (name, key, have.get(key)))
        if member.pax_headers.get('SCHILY.acl.access') != 'user::rw-,user:1234:r--,group::r--,mask::r--,other::---':
            print('%s: access control list %r' % (name, member.pax_headers.get('SCHILY.acl.access')))


if __name__ == '__main__':
    main()
