#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What `debugreiserfs -d` says of the tree of a ReiserFS image.

reiserfs_items.py items IMAGE [OPTION...]     compares it with `fsassay audit -J`: nodes, items, bytes by item type,
                                              fill of leaves, blocks of files, tails, holes, slack; prints what differs
reiserfs_items.py manifest IMAGE IN OUT       the manifest IN with the holes that are stored as the tree has them:
                                              the kernel writes the last block of a file that truncate(2) made longer
"""
import re
import subprocess
import sys

import assay

HEAD = re.compile(rb'\|\s*\d+\|(\d+) (\d+) 0x([0-9a-f]+) (SD|IND|DRCT|DIR) \(\d\), len (\d+), location (\d+) entry count')
STAT = re.compile(rb'\((NEW|OLD) SD\), mode (..........), size (\d+), nlink (\d+)')
NODE = re.compile(rb'^(INTERNAL|LEAF) NODE \((\d+)\) contains level=(\d+), nr_items=(\d+), free_space=(\d+)')
RUN = re.compile(rb'(\d+)(?:\((\d+)\))?')


class Object:
    def __init__(self):
        self.kind, self.size, self.links, self.hidden = '?', 0, 0, False
        self.last = 0         # offset of the item before
        self.end = 0          # byte behind the last pointer
        self.direct = []      # (offset, length)
        self.blocks = {}      # index of a block in the file: its number


def entries(line):
    """Of a line of a directory item: (name, first word of the key, object id)."""
    found = re.match(rb'\s*\d+: "(.*?)\s*"\(\s*(\d+)\)\s*\[(\d+) (\d+)\]', line)
    return found and (found[1], int(found[3]), int(found[4]))


class Dump:
    def __init__(self, image):
        out = subprocess.run(['debugreiserfs', '-d', image], stdin=subprocess.DEVNULL, capture_output=True).stdout
        self.block_size = int(re.search(rb'^Blocksize: (\d+)', out, re.M)[1])
        self.nodes = {b'INTERNAL': 0, b'LEAF': 0}
        self.leaf_used = self.branch_used = 0
        self.items = {b'SD': 0, b'IND': 0, b'DRCT': 0, b'DIR': 0}
        self.bytes = dict(self.items)
        self.objects, self.names = {}, {}
        self.parse(out.split(b'\n'))
        for o in self.objects.values():
            # Sizes too are printed without what is above 32 bits; holes have pointers, so the items reach to the end.
            while o.kind == '-' and o.size + (1 << 32) <= o.end:
                o.size += 1 << 32
        self.hide()

    def parse(self, lines):
        item, pointers = None, []
        for line in lines:
            node = NODE.match(line)
            if node:
                self.nodes[node[1]] += 1
                used = self.block_size - int(node[5])
                if node[1] == b'LEAF':
                    self.leaf_used += used
                else:
                    self.branch_used += used
            head = HEAD.match(line)
            if head or line.startswith((b'----', b'====')):
                if item and item[3] == b'IND':
                    self.indirect(item, b' '.join(pointers))
                item, pointers = None, []
            # Behind the last item of a leaf older ones may still stand.
            if head and not line.endswith(b'DELETED'):
                item = head.groups()
                self.begin(item)
                continue
            if not item:
                continue
            if item[3] == b'SD':
                self.stat(item, line)
            elif item[3] == b'IND':
                pointers.append(line)
            elif item[3] == b'DIR':
                entry = entries(line)
                if entry:
                    self.names.setdefault(int(item[1]), []).append(entry)

    def begin(self, item):
        self.items[item[3]] += 1
        self.bytes[item[3]] += int(item[4])
        o = self.objects.setdefault(int(item[1]), Object())
        if item[3] in (b'DRCT', b'IND'):
            # Printed without what is above 32 bits; items come in rising order.
            offset = int(item[2], 16) - 1
            while offset < o.last:
                offset += 1 << 32
            o.last = offset
        if item[3] == b'DRCT':
            o.direct.append((o.last, int(item[4])))

    def stat(self, item, line):
        stat = STAT.match(line)
        if stat:
            o = self.objects[int(item[1])]
            o.kind, o.size, o.links = stat[2][:1].decode(), int(stat[3]), int(stat[4])

    def indirect(self, item, text):
        """Runs "NUMBER(COUNT)", 0 for holes, from the item's offset on."""
        text = text[text.index(b'[') + 1:text.rindex(b']')]
        o = self.objects[int(item[1])]
        at = o.last // self.block_size
        for number, count in RUN.findall(text):
            for k in range(int(count or 1)):
                if int(number):
                    o.blocks[at] = int(number) + k
                at += 1
        o.end = at * self.block_size

    def hide(self):
        """The tree of attributes."""
        todo = [oid for name, _, oid in self.names.get(2, []) if name == b'.reiserfs_priv']
        while todo:
            oid = todo.pop()
            self.objects[oid].hidden = True
            todo += [o for name, _, o in self.names.get(oid, []) if name not in (b'.', b'..')]

    def holes(self, oid):
        """Ranges [offset, length] of a file that nothing stores."""
        o, bs = self.objects[oid], self.block_size
        held = {k: True for k in o.blocks}
        for offset, length in o.direct:
            for k in range(offset // bs, -(-(offset + length) // bs)):
                held[k] = True
        found, at = [], 0
        for k in sorted(held) + [-(-o.size // bs)]:
            if k > at and at * bs < o.size:
                found.append([at * bs, min(k * bs, o.size) - at * bs])
            at = max(at, k + 1)
        return found


def expected(d):
    bs = d.block_size
    want = dict.fromkeys(('data', 'slack', 'beyond', 'tail', 'padding', 'xattr_tail', 'xattr_block', 'symlink', 'unpacked',
                          'tails', 'cost'), 0)
    want['by_size'], want['items_by_size'] = {}, {}
    for o in d.objects.values():
        packed, cost = 0, 0
        for offset, length in o.direct:
            inside = max(0, min(length, o.size - offset))
            packed += inside
            cost += 24 + length - inside
            if o.kind == 'l':
                want['symlink'] += inside
            elif o.hidden:
                want['xattr_tail'] += inside
            else:
                want['tail'] += inside
                want['padding'] += length - inside
        if packed and o.kind == '-' and not o.hidden:
            want['tails'] += 1
            want['cost'] += cost
            first = min(offset for offset, length in o.direct) // bs
            last = max(min(offset + length, o.size) for offset, length in o.direct)
            unpacked = (-(-last // bs) - first) * bs
            want['unpacked'] += unpacked
            row = want['by_size'].setdefault(1 << packed.bit_length() - 1, [0] * 5)
            row[:] = [a + b for a, b in zip(row, (1, packed, cost, unpacked, unpacked - packed - cost))]
            for offset, length in o.direct:
                power = max(0, min(length, o.size - offset)).bit_length() - 1
                name = '%d to %d bytes' % (1 << power, (2 << power) - 1)
                want['items_by_size'][name] = want['items_by_size'].get(name, 0) + 1
        for k in o.blocks:
            inside = max(0, min(bs, o.size - k * bs))
            if o.hidden:
                want['xattr_block'] += inside
            elif inside:
                want['data'] += inside
                want['slack'] += bs - inside
            else:
                want['beyond'] += bs
    return want


def by_size(tails):
    return {row['from_bytes']: [row[k] for k in ('files', 'bytes', 'cost_bytes', 'unpacked_bytes', 'saved_bytes')] for row in tails['by_size']}


def compare(image, options):
    d = Dump(image)
    a = assay.fsassay_json(['audit', '-J', *options, image])['images'][0]
    details = {row['name']: row['bytes'] for part in a['ledger'] for row in part['details']}
    tree = a['figures']
    want, have = {}, {}
    sums = expected(d)
    for name, key in (('file contents in blocks', 'data'), ('behind end of file', 'slack'),
                      ('whole blocks behind end of file', 'beyond'), ('file contents in direct items', 'tail'),
                      ('padding of direct items', 'padding'), ('attribute values in direct items', 'xattr_tail'),
                      ('attribute values in blocks', 'xattr_block'), ('symlink targets in direct items', 'symlink')):
        want[name], have[name] = sums[key], details.get(name, 0)
    for name, key in (('stat data items', b'SD'), ('indirect items', b'IND')):
        want[name], have[name] = d.bytes[key], details.get(name, 0)
    want['directory items'] = d.bytes[b'DIR']
    have['directory items'] = details.get('directory items', 0) + details.get('directory items of attributes', 0)
    want['item heads with keys'], have['item heads with keys'] = 24 * sum(d.items.values()), details.get('item heads with keys', 0)
    want['leaf heads'], have['leaf heads'] = 24 * d.nodes[b'LEAF'], details.get('leaf heads', 0)
    want['unused in leaves'] = d.nodes[b'LEAF'] * d.block_size - d.leaf_used
    have['unused in leaves'] = details.get('unused in leaves', 0)
    internal = 'internal nodes: head, keys, pointers'
    want[internal], have[internal] = d.branch_used, details.get(internal, 0)
    want['unused in internal nodes'] = d.nodes[b'INTERNAL'] * d.block_size - d.branch_used
    have['unused in internal nodes'] = details.get('unused in internal nodes', 0)
    rows = {f['name']: f['value'] for f in a['format_figures'] if f['group'] == 'tree'}
    for name, key in (('stat data', b'SD'), ('indirect', b'IND'), ('direct', b'DRCT'), ('directory', b'DIR')):
        want[name + ' items in all'], have[name + ' items in all'] = d.items[key], rows[name + ' items']
    want["bytes of direct items"], have["bytes of direct items"] = d.bytes[b'DRCT'], rows["direct items' bytes"]
    want['leaves'], have['leaves'] = d.nodes[b'LEAF'], tree['leaf_nodes']
    want['internal nodes'], have['internal nodes'] = d.nodes[b'INTERNAL'], tree['branch_nodes']
    want['tails by size'], have['tails by size'] = sums['by_size'], by_size(a['tails'])
    want['tail items by size'] = sums['items_by_size']
    have['tail items by size'] = {f['name']: f['value'] for f in a['format_figures'] if f['group'] == 'tail items by size'}
    t = a['tails']
    for name, key in (('files', 'tails'), ('bytes', 'tail'), ('cost_bytes', 'cost'), ('unpacked_bytes', 'unpacked')):
        want['tails ' + name], have['tails ' + name] = sums[key], t[name]
    for name in want:
        if want[name] != have[name]:
            print('%s: %s, by debugreiserfs %s' % (name, have[name], want[name]))
    return d, a, tree


def rewrite(image, source, target):
    d, manifest = Dump(image), assay.load(source)
    numbers = {assay.place(s): s['ino'] for s in manifest['kernel']['st']}
    for e in manifest['entries']:
        # Those too large to be hashed whole are compared outside of their holes as made.
        if e['type'] == 'file' and 'holes' in e and 'sha256' in e:
            e['holes'] = d.holes(numbers[assay.place(e)])
            if not e['holes']:
                del e['holes']
    with open(target, 'w', encoding='utf-8') as f:
        assay.json.dump(manifest, f)


if __name__ == '__main__':
    if sys.argv[1] == 'items':
        try:
            compare(sys.argv[2], sys.argv[3:])
        except assay.Failed as e:
            print(e)
    else:
        rewrite(*sys.argv[2:5])
