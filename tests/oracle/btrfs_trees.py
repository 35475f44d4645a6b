#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The audit's numbers of nodes, leaves, items and levels of every tree against `btrfs inspect-internal dump-tree`.

btrfs_trees.py IMAGE: silent and 0 when all agree.
"""
import json
import os
import re
import subprocess
import sys

TREES = {'root': 1, 'extent': 2, 'chunk': 3, 'device': 4, 'top level': 5, 'checksum': 7, 'quota': 8, 'uuid': 9, 'free space': 10,
         'block group': 11, 'data relocation': 2 ** 64 - 9}


def dump(image, *more):
    return subprocess.run(['btrfs', 'inspect-internal', 'dump-tree', *more, image], capture_output=True, text=True, errors='replace').stdout


def count(text):
    leaves = re.findall(r'^leaf \d+ items (\d+) ', text, re.M)
    levels = [int(n) for n in re.findall(r'^node \d+ level (\d+) ', text, re.M)]
    return {'levels': max(levels, default=0) + 1, 'nodes': len(levels), 'leaves': len(leaves), 'items': sum(map(int, leaves))}


def main():
    image = sys.argv[1]
    run = subprocess.run([os.environ.get('FSASSAY', 'fsassay'), 'audit', '-J', image], capture_output=True, text=True)
    a = json.loads(run.stdout)['images'][0]
    ours, wrong = {}, []
    for f in a['format_figures']:
        m = re.fullmatch(r'tree (?:subvolume (\d+)|(.*))', f['group'])
        if m:
            ours.setdefault(int(m[1] or TREES[m[2]]), {})[f['name']] = f['value']
    # Which trees there are is the root tree's to say; itself and the chunk tree stand in the superblock.
    names = re.findall(r'^\titem \d+ key \((\S+) ROOT_ITEM ', dump(image, '-t', '1'), re.M)
    if len(names) + 2 != len(ours):
        wrong.append('%d trees, dump-tree has %d' % (len(ours), len(names) + 2))
    for tree, have in sorted(ours.items()):
        want = count(dump(image, '-t', str(tree)))
        have = {k: have[k] for k in want}
        if have != want:
            wrong.append('tree %d: %s, dump-tree has %s' % (tree, have, want))
    # Every block has a header of 101 bytes, on each of its copies.
    text = dump(image)
    blocks = set(re.findall(r'^(?:leaf (\d+) items|node (\d+) level)', text, re.M))
    copies = re.findall(r'type (\S*(?:METADATA|SYSTEM)\S*)', text)
    factor = 2 if copies and all('DUP' in c for c in copies) else 1
    header = {d['name']: d['bytes'] for p in a['ledger'] for d in p['details']}['node headers']
    if header != len(blocks) * 101 * factor:
        wrong.append('%d bytes of node headers, dump-tree shows %d blocks on %d copies' % (header, len(blocks), factor))
    if wrong:
        print(' | '.join(wrong))
        sys.exit(1)


main()
