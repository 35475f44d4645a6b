#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Figures of the audit against what btrfs's own tools said of the mounted filesystem.

btrfs_usage.py usage FILE IMAGE...       `btrfs filesystem usage -b`, to the byte
btrfs_usage.py qgroups FILE IMAGE...     `btrfs qgroup show --raw`: referenced and exclusive bytes of each subvolume
btrfs_usage.py du FILE IMAGE...          `btrfs filesystem du -s --raw`, lines "ROOT... du-line": total and exclusive of these subvolumes together
Silent and 0 when all agree.
"""
import json
import os
import re
import subprocess
import sys


def figures(images):
    run = subprocess.run([os.environ.get('FSASSAY', 'fsassay'), 'audit', '-J', *images], capture_output=True, text=True)
    groups = {}
    for f in json.loads(run.stdout)['images'][0]['format_figures']:
        groups.setdefault(f['group'], {})[f['name']] = f['value']
    return groups


def ratio(text):
    return round(float(text) * 100)


def from_usage(text):
    """What the tool prints, in our words."""
    want = {'usage': {}}
    for name, ours in (('Device size', 'device size'), ('Device allocated', 'device allocated'), ('Device unallocated', 'device unallocated'),
                       ('Used', 'used'), ('Free (estimated)', 'free (estimated)'), ('Global reserve', 'global reserve')):
        want['usage'][ours] = int(re.search(r'^    %s:\s+(\d+)' % re.escape(name), text, re.M)[1])
    want['usage']['free (minimum)'] = int(re.search(r'Free \(estimated\):.*\(min: (\d+)\)', text)[1])
    for name in ('Data', 'Metadata'):
        want['usage'][name.lower() + ' ratio, in hundredths'] = ratio(re.search(r'%s ratio:\s+([0-9.]+)' % name, text)[1])
    for kind, profile, size, used in re.findall(r'^(\S+),(\S+): Size:(\d+), Used:(\d+)', text, re.M):
        want['%s, %s' % (kind, profile)] = {'size': int(size), 'used': int(used)}
    return want


def from_qgroups(text):
    want = {}
    for number, referenced, exclusive in re.findall(r'^0/(\d+)\s+(\d+)\s+(\d+)', text, re.M):
        want['subvolume ' + number] = {'referenced': int(referenced), 'exclusive': int(exclusive),
                                       'shared': int(referenced) - int(exclusive)}
    return want


def check_du(text, have):
    """What du adds up of a folder is that of all subvolumes below it."""
    wrong, lines = [], 0
    for roots, total, exclusive in re.findall(r'^([\d ]+): +(\d+) +(\d+) ', text, re.M):
        lines += 1
        sums = [sum(have['subvolume ' + r][name] for r in roots.split()) for name in ('contents', 'contents, exclusive')]
        if sums != [int(total), int(exclusive)]:
            wrong.append('subvolumes %s: total and exclusive %s and not %s, %s' % (roots, sums, total, exclusive))
    return wrong if lines else ['nothing could be read']


def main():
    with open(sys.argv[2], encoding='utf-8') as f:
        text = f.read()
    if sys.argv[1] == 'du':
        wrong = check_du(text, figures(sys.argv[3:]))
        print('\n'.join(wrong), end='')
        sys.exit(1 if wrong else 0)
    want = {'usage': from_usage, 'qgroups': from_qgroups}[sys.argv[1]](text)
    have = figures(sys.argv[3:])
    wrong = ['%s, %s: %s and not %d' % (group, name, have.get(group, {}).get(name), value)
             for group, names in want.items() for name, value in names.items() if have.get(group, {}).get(name) != value]
    if len(want) < 2:
        wrong.append('nothing could be read from %s' % sys.argv[2])
    if wrong:
        print(' | '.join(wrong[:6]))
        sys.exit(1)


main()
