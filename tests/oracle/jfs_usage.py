#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The summary of `jfs_fsck -n -v` against what fsassay says of the same image.

jfs_usage.py IMAGE

jfs_fsck prints kilobytes in directories, files, attributes and so on, in a way of its own (jfsutils 1.1.15,
fsck/xchkdsk.c), which is followed here: the records of 512 bytes are added to the blocks of directories and
files, symbolic links are not counted as files while their blocks are, the root's blocks are left out though it
is counted, and what is reserved has the directories added twice instead of taken off.
Prints what differs.
"""
import re
import subprocess
import sys

from assay import fsassay_json

BLOCK, RECORD = 4096, 512


def main():
    image = sys.argv[1]
    out = subprocess.run(['jfs_fsck', '-n', '-v', image], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
    said = {words: int(n) for n, words in re.findall(r'^ *(\d+) kilobytes (?:in |are |reserved )?(?:\d+ )?(.*?)\.?$', out, re.M)}
    counts = {words: int(n) for words, n in re.findall(r'^([A-Z][a-z ]+): +(\d+)$', out, re.M)}
    audit = fsassay_json(['audit', '-J', image])['images'][0]
    rows = {}
    for r in fsassay_json(['ls', '-lRJ', image])['entries'] + fsassay_json(['ls', '-ldJ', image, '/'])['entries']:
        rows[r['inode']] = r
    attributes = {}
    for r in fsassay_json(['map', '-J', image])['runs']:
        if r.get('detail') in ('attribute extents', 'unused in attribute extents'):
            attributes[r['number']] = attributes.get(r['number'], 0) + r['length']
    blocks, number = {'d': 0, 'f': 0}, {'d': 0, 'f': 0}
    for inode, r in rows.items():
        kind = 'd' if r['type'] == 'directory' else 'f'
        number[kind] += r['type'] != 'symlink'
        if inode != 2:
            blocks[kind] += r['st_blocks'] * 512 - attributes.get(inode, 0)
    total = audit['filesystem']['block_size'] * audit['filesystem']['blocks']
    kib = {k: (blocks[k] + number[k] * RECORD) // 1024 for k in blocks}
    free = audit['reconciliation']['map_free_blocks'] * BLOCK
    xattr = sum(attributes.values()) - attributes.get(2, 0)
    want = {
        'total disk space': total // 1024, 'directories': kib['d'], 'user files': kib['f'], 'extended attributes': xattr // 1024,
        'access control lists': 0, 'available for use': free // 1024,
        'for system use': (total - free - xattr) // 1024 + kib['d'] - kib['f'],
    }
    for words, n in want.items():
        if said.get(words) != n:
            print('%s: jfs_fsck says %s KiB, computed %d' % (words, said.get(words), n))
    details = {d['name']: d['bytes'] for p in audit['ledger'] for d in p['details']}
    # Inodes 0, 1 and 3 have no name; 32 more are the aggregate's.
    inodes = details.get('free inode slots', 0) // RECORD + len(rows) + 3 + 32
    for words, n in (('File count', number['f']), ('Directory count', number['d']), ('Inode count', inodes),
                     ('Block count', total // BLOCK), ('Free block count', free // BLOCK)):
        if counts.get(words) != n:
            print('%s: jfs_fsck says %s, found %d' % (words, counts.get(words), n))


main()
