#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A Reiser4 image against the format's own tools and against what was written into it.

reiser4_tree.py measure IMAGE     node and item counts and the fill of nodes, to the digit as `measurefs.reiser4 -S` prints them
reiser4_tree.py content IMAGE     the archive of `fsassay extract` against the manifest: types, contents, targets, links
reiser4_tree.py cat IMAGE N       N files of the manifest also as `debugfs.reiser4 --cat` gives them
Prints what differs.
"""
import hashlib
import os
import re
import subprocess
import sys
import tarfile

import assay

NODE_HEADER = {'node40': 28, 'node41': 32}


def tool(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    return done.stdout


def details(image):
    a = assay.fsassay_json(['audit', '-J', image])['images'][0]
    found = {}
    for purpose in a['ledger']:
        for d in purpose['details']:
            found[d['name']] = d['bytes']
    return a, found


def leaf_fill(image, block):
    """The running mean that measurefs makes over leaves and blocks of data, in its order: a run of blocks is one step of
    it and counts as many in the next, so that the order matters."""
    mean, leaves = 0.0, 0
    leaf = False
    for line in tool('debugfs.reiser4', '-y', '-t', image).decode('utf-8', 'replace').split('\n'):
        node = re.match(r'NODE \(\d+\).* LEVEL=(\d+) ITEMS=\d+ SPACE=(\d+)', line)
        if node:
            leaves += leaf
            leaf = node[1] == '1'
            if leaf:
                mean = (block - int(node[2]) + mean * leaves) / (leaves + 1)
        elif line.startswith('UNITS='):
            for start, width in re.findall(r'(\d+)\((\d+)\)', line):
                if int(start) > 1:
                    mean = (block + mean * leaves) / (leaves + 1)
                    leaves += int(width)
    return '%.2f' % mean


def measure(image):
    said = tool('measurefs.reiser4', '-y', '-S', image).decode()
    want = {k.strip(): v for k, v in re.findall(r'^ *([A-Z][a-z ]+):\s+([0-9.]+)', said, re.M)}
    a, d = details(image)
    features = a['filesystem']['features']
    block = a['filesystem']['block_size']
    node = NODE_HEADER['node41' if 'node41' in features else 'node40']
    item = 38 if 'large_keys' in features else 30
    count = {level: d[level + ' headers'] // node for level in ('leaf', 'twig', 'branch')}
    used = {level: count[level] * block - d[unused] for level, unused in
            (('leaf', 'unused in leaves'), ('twig', 'unused in twigs'), ('branch', 'unused in branches'))}
    data = sum(d[n] for n in ('file contents', 'behind end of file', 'whole blocks behind end of file',
                              'blocks of objects deleted while open')) // block
    items = {n: d['item headers and keys of ' + n] // item for n in
             ('stat data', 'directory entries', 'node pointers', 'extents', 'tails', 'compressed tails', 'other items')}
    formatted = sum(count.values())

    def mean(total, n):
        return '%.2f' % (total / n) if n else '0.00'

    have = {
        'Total nodes': formatted + data, 'Formatted nodes': formatted, 'Unformatted nodes': data,
        'Total items': sum(items.values()), 'Nodeptr items': items['node pointers'], 'Statdata items': items['stat data'],
        'Direntry items': items['directory entries'], 'Tail items': items['tails'], 'Extent items': items['extents'],
    }
    fill = {
        'Formatted nodes': mean(sum(used.values()), formatted), 'Branch nodes': mean(used['branch'], count['branch']),
        'Twig nodes': mean(used['twig'], count['twig']), 'Leaf nodes': leaf_fill(image, block) if data else mean(used['leaf'], count['leaf']),
    }
    packing = dict(re.findall(r'^ *([A-Z][a-z ]+):\s+([0-9.]+)b', said, re.M))
    nodes = dict(re.findall(r'^ *([A-Z][a-z ]+):\s+([0-9]+)$', said, re.M))
    have.update({'Branch nodes': count['branch'], 'Twig nodes': count['twig'], 'Leaf nodes': count['leaf'] + data})
    if not nodes or not packing:
        yield 'measurefs.reiser4 prints nothing: %r' % want
    for name, value in nodes.items():
        if have.get(name) != int(value):
            yield '%s: %s, measurefs says %s' % (name, have.get(name), value)
    for name, value in packing.items():
        if fill.get(name) != value:
            yield '%s filled to %s bytes, measurefs says %s' % (name, fill.get(name), value)


def digest(entry, f):
    """Of all bytes, or, of files too large to be hashed whole, of those outside the gaps."""
    h = hashlib.sha256()
    if 'sha256' in entry:
        for piece in iter(lambda: f.read(1 << 20), b''):
            h.update(piece)
        return h.hexdigest() == entry['sha256']
    at = 0
    for offset, length in sorted(entry.get('holes', []) + entry.get('unwritten', [])) + [(entry['size'], 0)]:
        f.seek(at)
        h.update(f.read(max(0, offset - at)))
        at = max(at, offset + length)
    return h.hexdigest() == entry['data_sha256']


def content(image):
    manifest = assay.load(image + '.manifest.json')
    want = {assay.place(e): e for e in manifest['entries']}
    names = set()
    done = subprocess.Popen(assay.command(['extract', '-f', image + '.tar', image]), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    done.communicate()
    with tarfile.open(image + '.tar', errors='surrogateescape') as tar:
        for m in tar:
            name = os.fsencode(m.name)
            name = (name[2:] if name.startswith(b'./') else name).strip(b'/')
            name = b'' if name == b'.' else name
            names.add(name)
            e = want.get(name)
            if not e:
                yield '%r is in the archive and not in the manifest' % name
            elif e['type'] == 'file' and m.isreg() and m.size != e['size']:
                yield '%r has %d bytes and not %d' % (name, m.size, e['size'])
            elif e['type'] == 'file' and m.isreg() and not digest(e, tar.extractfile(m)):
                yield '%r has other contents' % name
            elif e['type'] == 'symlink' and m.issym() and os.fsencode(m.linkname) != assay.text(e, 'target'):
                yield '%r leads to %r' % (name, m.linkname)
    os.unlink(image + '.tar')
    for name, e in want.items():
        if name not in names and e['type'] != 'socket':
            yield '%r is not in the archive' % name


def printed(data):
    """debugfs.reiser4 hands pieces of 4096 bytes to printf as the format: they end at a NUL, and '%' is not itself."""
    return b''.join(data[at:at + 4096].split(b'\0')[0] for at in range(0, len(data), 4096))


def cat(image, number):
    manifest = assay.load(image + '.manifest.json')
    files = [e for e in manifest['entries'] if e['type'] == 'file' and 0 < e['size'] < 1 << 20 and 'sha256' in e and
             'path' in e and re.fullmatch('[a-z0-9/-]+', e['path'])]
    compared = 0
    for e in files:
        status, ours, said = assay.fsassay(['cat', image, e['path']])
        if hashlib.sha256(ours).hexdigest() != e['sha256']:
            yield '%s: other contents' % e['path']
        if b'%' in printed(ours):
            continue
        theirs = tool('debugfs.reiser4', '-y', '--cat', '/' + e['path'], image)
        if printed(ours) != theirs:
            yield '%s: %d printable bytes, debugfs.reiser4 gives %d' % (e['path'], len(printed(ours)), len(theirs))
        compared += 1
        if compared == number:
            break
    if compared < number:
        yield 'only %d files could be compared' % compared


def main():
    what, image = sys.argv[1], sys.argv[2]
    try:
        found = {'measure': measure, 'content': content, 'cat': lambda i: cat(i, int(sys.argv[3]))}[what](image)
        print(' | '.join(list(found)[:6]))
    except (assay.Failed, OSError, KeyError) as e:
        print('%s: %s' % (type(e).__name__, e))


main()
