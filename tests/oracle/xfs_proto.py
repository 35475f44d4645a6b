#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A prototype for `mkfs.xfs -p`, and whether an image made from it is read as what it says.

xfs_proto.py make            the prototype on standard output; the contents of its files are made in the current folder
xfs_proto.py compare IMAGE   audit, ls, cat and the free space beside it and beside xfs_db; prints what differs
"""
import os
import re
import subprocess
import sys

from assay import Failed, fsassay, fsassay_json, place

FILES = {'small': 300, 'whole': 65536, 'large': 700001, 'attributes': 0}
# In the inode or a short block, in one block, and with an index of more than one leaf of 64 KiB.
DIRECTORIES = {'in-inode': 4, 'short': 3, 'block': 60, 'many': 9000}
LINK = b'somewhere/' * 10


def contents(name):
    return bytes((k * 7 + k // 256 + len(name)) % 256 for k in range(FILES[name]))


def entry(directory, k):
    # Two names of this length do not fit an inode of 512 bytes.
    length = {'in-inode': 8, 'short': 200}.get(directory, 40)
    return ('%06d' % k).ljust(length, 'n')


def make():
    words = ['/dev/null', '0 0', 'd--755 0 0']
    for name in FILES:
        with open(name, 'wb') as f:
            f.write(contents(name))
        words.append('%s ---640 3 4 %s' % (name, os.path.abspath(name)))
    words.append('link l--777 0 0 ' + LINK.decode())
    for directory, count in DIRECTORIES.items():
        words.append(directory + ' d--755 0 0')
        words += [entry(directory, k) + ' p--644 1 2' for k in range(count)] + ['$']
    print('\n'.join(words + ['$']))


def expect(what, have, want):
    if have != want:
        print('%s: %r and not %r;' % (what, have, want))


def compare(image):
    status, _, err = fsassay(['audit', image])
    expect('exit status of audit (%s)' % ' '.join(err.split())[:300], status, 0)
    audited = fsassay_json(['audit', '-J', image])['images'][0]
    for finding in audited['findings'][:3]:
        print(finding['object'], finding['number'], finding['offset'], finding['message'])
    expect('sum of the ledger', sum(p['bytes'] for p in audited['ledger']), os.path.getsize(image))
    books = audited['reconciliation']
    for k in ('lost_blocks', 'used_free_blocks', 'conflict_blocks'):
        expect(k, books[k], 0)
    expect('counter', books['counter_free_blocks'], books['map_free_blocks'])
    # xfs_db counts what is on the AGFL as free, in pieces of one block.
    block = audited['filesystem']['block_size']
    listed = sum(d['bytes'] for p in audited['ledger'] for d in p['details'] if d['name'].startswith('blocks on the AGFL')) // block
    said = subprocess.run(['xfs_db', '-r', '-c', 'freesp -s', image], capture_output=True, text=True, check=True).stdout
    expect('blocks by freesp', int(re.search(r'^total free blocks (\d+)', said, re.M).group(1)), books['map_free_blocks'] + listed)
    expect('runs by freesp', int(re.search(r'^total free extents (\d+)', said, re.M).group(1)),
           audited['fragmentation']['free_runs'] + listed)
    want = {name.encode(): ('file', size, 3) for name, size in FILES.items()}
    want[b'link'] = ('symlink', len(LINK), 0)
    for directory, count in DIRECTORIES.items():
        want[directory.encode()] = ('directory', None, 0)
        want.update({('%s/%s' % (directory, entry(directory, k))).encode(): ('fifo', 0, 1) for k in range(count)})
    have = {}
    for row in fsassay_json(['ls', '-RJ', image])['entries']:
        have[place(row)] = (row['type'], None if row['type'] == 'directory' else row['size'], row['uid'])
    for name in sorted(set(want) | set(have)):
        if want.get(name) != have.get(name):
            print('%r: %r and not %r;' % (name, have.get(name), want.get(name)))
            break
    for name in FILES:
        expect('contents of ' + name, fsassay(['cat', image, '/' + name])[1] == contents(name), True)
    stat = fsassay_json(['stat', '-J', image, '/attributes', '/link'])['objects']
    lengths = {x['name']: len(x['value']) for x in stat[0]['xattrs']}
    expect('attributes', lengths, {'user.one': 60, 'trusted.two': 9000, 'user.three': 65000})
    expect('target', stat[1]['target'].encode(), LINK)


if __name__ == '__main__':
    try:
        make() if sys.argv[1] == 'make' else compare(sys.argv[2])
    except Failed as e:
        sys.exit(str(e))
