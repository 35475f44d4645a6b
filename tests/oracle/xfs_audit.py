#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`audit -J` on standard input beside statfs(2): xfs_audit.py "BLOCKS FREE AVAILABLE FILES FILES-FREE" "the same, read-only"."""
import json
import sys

try:
    image = json.load(sys.stdin)['images'][0]
except ValueError:
    sys.exit('no JSON')
books = image['reconciliation']
for name in ('lost_blocks', 'conflict_blocks'):
    if books[name]:
        print(name, books[name])
if not books['consistent']:
    print('the books do not agree')
for finding in image['findings'][:3]:
    print(finding['object'], finding['number'], finding['message'])
if sum(entry['bytes'] for entry in image['ledger']) != image['image']['size_bytes']:
    print('the ledger does not add up')
bs = image['filesystem']['block_size']
for words, key in zip(sys.argv[1:], ('df', 'df_ro')):
    blocks, free, available, files, files_free = map(int, words.split())
    have, want = image[key], tuple(-(-n * bs // 1024) for n in (blocks, blocks - free, available))   # as GNU df rounds
    got = (have['size_kib'], have['used_kib'], have['available_kib'])
    if got != want:
        print(key, got, 'and not', want)
    if key == 'df':
        got = (image['df_inodes']['total'], image['df_inodes']['used'])
        if got != (files, files - files_free):
            print('inodes', got, 'and not', (files, files - files_free))
