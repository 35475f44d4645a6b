#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""xfs_ls.py LS.JSON FIND.TXT: `fsassay ls -R -J` beside find's "%i %b %n %s %P" of the mounted tree."""
import json
import os
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    text = json.load(file)
rows = text.get('entries') or text['images'][0]['entries']
ours = {}
for row in rows:
    path = row['path'].strip('/')
    ours[path] = (row['inode'], row['st_blocks'], row['links'], row['size'])
wrong = 0
seen = set()
with open(sys.argv[2], encoding='utf-8') as file:
    for line in file:
        ino, blocks, links, size, path = line.rstrip('\n').split(' ', 4)
        seen.add(path)
        want = (int(ino), int(blocks), int(links), int(size))
        if path and ours.get(path) != want:
            wrong += 1
            if wrong < 4:
                print('%s: %s and not %s' % (path, ours.get(path), want))
missing = set(ours) - seen - {''}
if missing:
    print('the kernel has no', sorted(missing)[:3])
