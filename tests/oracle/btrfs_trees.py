#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The audit's count of tree blocks against `btrfs inspect-internal dump-tree`: leaves and nodes that hold something.

btrfs_trees.py IMAGE: silent and 0 when both agree.
"""
import json
import os
import re
import subprocess
import sys

image = sys.argv[1]
dump = subprocess.run(['btrfs', 'inspect-internal', 'dump-tree', image], capture_output=True, text=True, errors='replace')
leaves = set(re.findall(r'^leaf (\d+) items', dump.stdout, re.M))
nodes = set(re.findall(r'^node (\d+) level', dump.stdout, re.M))
run = subprocess.run([os.environ.get('FSASSAY', 'fsassay'), 'audit', '-J', image], capture_output=True, text=True)
ledger = {d['name']: d['bytes'] for p in json.loads(run.stdout)['images'][0]['ledger'] for d in p['details']}
# Every block has a header of 101 bytes, on each of its copies.
copies = re.findall(r'type (\S*(?:METADATA|SYSTEM)\S*)', dump.stdout)
factor = 2 if copies and all('DUP' in c for c in copies) else 1
have = ledger['node headers']
want = (len(leaves) + len(nodes)) * 101 * factor
if have != want:
    print('%d bytes of node headers, dump-tree shows %d leaves and %d nodes on %d copies: %d' %
          (have, len(leaves), len(nodes), factor, want))
    sys.exit(1)
