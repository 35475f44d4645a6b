#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every block of an XFS image: the type that `xfs_db blockget`, `blockuse` give it beside what `fsassay map` says.

xfs_blocks.py IMAGE: prints what differs, nothing when all agree.
"""
import collections
import json
import os
import re
import subprocess
import sys

# xfs_db's types of blocks, and what may be in one: details of the parser.
TYPES = {
    'free1': {'free'}, 'free2': {'free'},
    'freelist': {'blocks on the AGFL, kept for B-trees'},
    'sb': {'superblock', 'superblock copies', 'AGF', 'AGI', 'AGFL', 'unused in AG header sectors'},
    'agf': {'AGF', 'unused in AG header sectors'}, 'agi': {'AGI', 'AGFL', 'unused in AG header sectors'},
    'agfl': {'AGFL', 'unused in AG header sectors'},
    'log': {'log'},
    'btbno': {'free-space B-trees by block', 'unused in B-tree blocks'},
    'btcnt': {'free-space B-trees by size', 'unused in B-tree blocks'},
    'btino': {'inode B-trees', 'unused in B-tree blocks'},
    'btfino': {'free inode B-trees', 'unused in B-tree blocks'},
    'btrmap': {'reverse map B-trees', 'unused in B-tree blocks'},
    'btrefcnt': {'reference count B-trees', 'unused in B-tree blocks'},
    'inode': {'inode cores', 'free inodes in chunks', 'unused fork room of inodes', 'directories in inodes', 'extents in inodes',
              'extent B-tree roots in inodes', 'attributes in inodes', 'symlink targets in inodes'},
    'data': {'file contents', 'behind end of file', 'unwritten extents', 'whole blocks behind end of file'},
    'rldata': {'file contents', 'behind end of file', 'unwritten extents', 'whole blocks behind end of file'},
    'dir': {'directory block headers', 'directory entries', 'hash index', 'free index', 'unused in directory blocks'},
    'symlink': {'symlink targets in blocks', 'unused in symlink blocks'},
    'attr': {'attribute leaves', 'attribute nodes', 'attribute values in blocks of their own', 'unused in attribute blocks'},
    'btbmapd': {'extent B-tree blocks', 'unused in extent B-tree blocks'},
    'btbmapa': {'extent B-tree blocks', 'unused in extent B-tree blocks'},
    'rtbitmap': {'realtime bitmap'}, 'rtsum': {'realtime summary'},
    'quota': {'quota records', 'unused in quota blocks'},
}


# xfs_db calls the blocks of a fork's B-tree by what the fork holds.
for kind in ('data', 'dir', 'attr', 'symlink', 'quota', 'rtbitmap', 'rtsum'):
    TYPES[kind] |= TYPES['btbmapd']


def run(words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          encoding='utf-8', errors='replace', **more).stdout


def main():
    image = sys.argv[1]
    fields = {}
    for line in run(['xfs_db', '-r', '-c', 'sb 0', '-c', 'print agcount agblocks dblocks blocksize', image]).splitlines():
        name, _, value = line.partition(' = ')
        fields[name] = int(value)
    groups, per, blocks, size = (fields[k] for k in ('agcount', 'agblocks', 'dblocks', 'blocksize'))
    # Runs as the map has them; by block the set of details that have a byte in it.
    text = subprocess.run([os.environ['FSASSAY'], 'map', '-J', image], stdout=subprocess.PIPE, check=False).stdout
    ours = collections.defaultdict(set)
    spans = []
    for run_ in json.loads(text)['runs']:
        what = run_.get('detail') or run_['purpose']
        first, last = run_['offset'] // size, (run_['offset'] + run_['length'] - 1) // size
        if last - first > 2:
            spans.append((first + 1, last, what))
            ours[first].add(what)
            ours[last].add(what)
        else:
            for block in range(first, last + 1):
                ours[block].add(what)
    for first, last, what in spans:
        for block in range(first, last):
            ours[block].add(what)
    commands = ['-c', 'blockget -n']
    for group in range(groups):
        commands += ['-c', 'fsblock %d' % (group << max(per - 1, 1).bit_length()), '-c', 'blockuse -c %d' % min(per, blocks - group * per)]
    seen = 0
    wrong = collections.Counter()
    example = {}
    for line in run(['xfs_db', '-r'] + commands + [image]).splitlines():
        match = re.match(r'block (\d+) \((\d+)/(\d+)\) type (\w+)', line)
        if not match:
            continue
        seen += 1
        block = int(match.group(2)) * per + int(match.group(3))
        kind = match.group(4)
        have = ours.get(block, {'nothing'})
        if kind not in TYPES or not have <= TYPES[kind]:
            key = (kind, ', '.join(sorted(have)))
            wrong[key] += 1
            example.setdefault(key, block)
    for (kind, have), count in sorted(wrong.items()):
        print('%d blocks (first %d) are %s by xfs_db and %s by fsassay;' % (count, example[(kind, have)], kind, have))
    if seen != blocks:
        print('xfs_db told of %d blocks, the filesystem has %d;' % (seen, blocks))


main()
