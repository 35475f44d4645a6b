#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Owners of blocks: every block of an ext image as debugfs icheck says, against `fsassay map`.

ext_icheck.py IMAGE [OPTION...]     prints differences; exit status 1 when there are any
"""
import re
import subprocess
import sys

from assay import fsassay_json


def debugfs(image, request):
    return subprocess.run(['debugfs', '-R', request, image], capture_output=True, text=True).stdout


def icheck(image, blocks):
    """block: inode, as debugfs finds them; one request holds as many blocks as a word of a command may."""
    owners, at = {}, 0
    while at < len(blocks):
        words, length = [], 0
        while at < len(blocks) and length < 100000:
            words.append(str(blocks[at]))
            length += len(words[-1]) + 1
            at += 1
        answered = 0
        for line in debugfs(image, 'icheck ' + ' '.join(words)).splitlines():
            found = re.match(r'(\d+)\t(\d+|<block not found>)$', line)
            if found:
                answered += 1
                owners[int(found.group(1))] = int(found.group(2)) if found.group(2).isdigit() else None
        if answered != len(words):
            sys.exit('icheck answered for %d blocks of %d' % (answered, len(words)))
    return owners


def tables(image):
    """Blocks of inode tables, which belong to no inode though the map names whose records they hold."""
    blocks = set()
    out = subprocess.run(['dumpe2fs', image], capture_output=True, text=True).stdout
    for first, last in re.findall(r'Inode table at (\d+)-(\d+)', out):
        blocks.update(range(int(first), int(last) + 1))
    for only in re.findall(r'Inode table at (\d+)(?: |\n)', out):
        blocks.add(int(only))
    return blocks, 'bigalloc' in out.split('Filesystem flags')[0]


def main():
    image, options = sys.argv[1], sys.argv[2:]
    fs = fsassay_json(['audit', '-J', *options, image])['images'][0]['filesystem']
    size, count = fs['block_size'], fs['blocks']
    table, clusters = tables(image)
    ours, shared, reserved = {}, set(), set()
    for run in fsassay_json(['map', '-J', *options, image])['runs']:
        if run['device'] != 0:
            continue
        for block in range(run['offset'] // size, -(-(run['offset'] + run['length']) // size)):
            if run['purpose'] == 'reserved':
                reserved.add(block)
            if run.get('object') == 'inode' and block not in table:
                ours.setdefault(block, set()).add(run['number'])
                if run.get('shared'):
                    shared.add(block)
    wrong = []
    owned = 0
    for block, inode in icheck(image, list(range(count))).items():
        mine = ours.get(block, set())
        if inode is not None:
            owned += 1
        if inode == 7 and block in reserved:
            continue        # the resize inode maps the reserved descriptors, which the map calls by their name
        if inode is None:
            # What a cluster holds beyond its blocks in use belongs to the file, and icheck does not know it.
            if mine and not clusters:
                wrong.append('block %d: inode %r by the map, none by icheck' % (block, mine))
        elif inode not in mine and not (mine and block in shared):
            wrong.append('block %d: inode %r by the map, %d by icheck' % (block, mine, inode))
    if not owned:
        wrong.append('icheck finds no owner of any block')
    if wrong:
        print('%d differences: %s' % (len(wrong), ' | '.join(wrong[:4])))
        sys.exit(1)


main()
