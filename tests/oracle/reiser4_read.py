#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A reader of Reiser4 written from parsers/reiser4/FORMAT.md alone, to prove that page: what it says is enough to find every
name and every byte.

reiser4_read.py IMAGE MANIFEST      prints what differs between the tree that it reads and the manifest
"""
import hashlib
import struct
import sys
import zlib

import assay

NAME, STAT, BODY = 0, 1, 4
ROOT = (0x29, 0, 0x2a)


class Reader:
    def __init__(self, path):
        with open(path, 'rb') as f:
            self.image = f.read()
        assert self.image[65536:65544] == b'ReIsEr4\0'
        self.bs = struct.unpack_from('<H', self.image, 65536 + 18)[0]
        sb = 65536 + self.bs
        assert self.image[sb + 52:sb + 67] == b'ReIsEr40FoRmAt\0'
        self.root, = struct.unpack_from('<Q', self.image, sb + 16)
        self.height, = struct.unpack_from('<H', self.image, sb + 68)
        self.words = 4 if struct.unpack_from('<Q', self.image, sb + 72)[0] & 1 else 3
        self.stats, self.entries, self.bodies, self.keys = {}, {}, {}, []
        self.walk(self.root, self.height)
        assert self.keys == sorted(self.keys)

    def key(self, at, words):
        return struct.unpack_from('<%dQ' % words, self.image, at)

    def identity(self, key):
        """(locality, ordering, object id) of a key or of one without its offset."""
        ordering = key[1] if self.words == 4 else 0
        return key[0] >> 4, ordering, key[self.words - 2]

    def walk(self, block, level):
        at = block * self.bs
        plugin, items, _, end, magic = struct.unpack_from('<HHHHI', self.image, at)
        assert magic == (0x52344653, 0x19051966)[plugin] and self.image[at + 26] == level
        heads = []
        for i in range(items):
            head = at + self.bs - (i + 1) * (8 * self.words + 6)
            offset, _, kind = struct.unpack_from('<HHH', self.image, head + 8 * self.words)
            heads.append((self.key(head, self.words), offset, kind))
        for (key, offset, kind), stop in zip(heads, [h[1] for h in heads[1:]] + [end]):
            if kind == 3:
                assert level > 1
                self.walk(struct.unpack_from('<Q', self.image, at + offset)[0], level - 1)
            else:
                self.keys.append(key)
                self.item(key, kind, at + offset, stop - offset)

    def item(self, key, kind, at, length):
        if kind == 0:
            self.stats[self.identity(key)] = self.stat(at)
        elif kind == 2:
            self.directory(key[0] >> 4, at, length)
        elif kind in (5, 6, 7):
            self.bodies.setdefault(self.identity(key), []).append((key[-1], kind, at, length))

    def stat(self, at):
        mask, = struct.unpack_from('<H', self.image, at)
        at += 2
        s = {'plugins': {}}
        for bit in range(9):
            if not mask >> bit & 1:
                continue
            if bit == 0:
                s['mode'], s['links'], s['size'] = struct.unpack_from('<HIQ', self.image, at)
            if bit == 1:
                s['uid'], s['gid'], _, s['mtime'], _, s['bytes'] = struct.unpack_from('<IIIIIQ', self.image, at)
            if bit == 3:
                end = self.image.index(b'\0', at)
                s['target'] = self.image[at:end]
                at = end + 1
            elif bit in (4, 8):
                n, = struct.unpack_from('<H', self.image, at)
                slots = struct.unpack_from('<%dH' % (2 * n), self.image, at + 2)
                if bit == 4:
                    s['plugins'] = dict(zip(slots[::2], slots[1::2]))
                at += 2 + 4 * n
            else:
                at += {0: 14, 1: 28, 2: 12, 5: 4, 6: 8, 7: 6}[bit]
        return s

    def directory(self, directory, at, length):
        count, = struct.unpack_from('<H', self.image, at)
        unit = 8 * (self.words - 1) + 2
        for i in range(count):
            here = at + 2 + i * unit
            name = self.key(here, self.words - 1)
            body = at + struct.unpack_from('<H', self.image, here + unit - 2)[0]
            leads = self.identity(self.key(body, self.words - 1))
            if name[0] >> 56 & 1:
                start = body + 8 * (self.words - 1)
                text = self.image[start:self.image.index(b'\0', start)]
            else:
                text = b''.join(w.to_bytes(8, 'big') for w in name)[1:].split(b'\0')[0] or b'.'
            self.entries.setdefault(directory, []).append((text, leads))

    def plugin(self, s, member):
        return s['plugins'].get(member, self.stats[ROOT]['plugins'].get(member))

    def content(self, who):
        s = self.stats[who]
        out = bytearray(s['size'])
        pieces = self.bodies.get(who, [])
        clusters = {}
        for offset, kind, at, length in pieces:
            if kind == 6:
                out[offset:offset + length] = self.image[at:at + length]
            elif kind == 5:
                for start, width in struct.iter_unpack('<QQ', self.image[at:at + length]):
                    if start:
                        out[offset:offset + width * self.bs] = self.image[start * self.bs:(start + width) * self.bs]
                    offset += width * self.bs
            else:
                size = 1 << self.image[at]
                clusters.setdefault((offset // size * size, size), []).append(self.image[at + 1:at + length])
        for (start, size), stored in clusters.items():
            stored, plain = b''.join(stored), min(size, s['size'] - start)
            if len(stored) < plain:
                assert zlib.adler32(stored[:-4]) == struct.unpack('<I', stored[-4:])[0]
                assert self.plugin(s, 10) == 1, 'only gzip1 is unpacked here'
                stored = zlib.decompress(stored[:-4], -15)
            out[start:start + plain] = stored
        return bytes(out[:s['size']])

    def tree(self, who=ROOT, path=b''):
        yield path, who
        if self.stats[who]['mode'] >> 12 != 4:
            return
        for name, leads in self.entries[who[2]]:
            if name not in (b'.', b'..'):
                yield from self.tree(leads, path + b'/' + name if path else name)


def main():
    reader, manifest = Reader(sys.argv[1]), assay.load(sys.argv[2])
    want = {assay.place(e): e for e in manifest['entries']}
    found, compressed = set(), 0
    for path, who in reader.tree():
        found.add(path)
        s, e = reader.stats[who], want.get(path)
        if e is None:
            print('%r is not in the manifest' % path)
            continue
        if [s['mode'] & 0o7777, s['uid'], s['gid']] != [int(e['mode'], 8), e['uid'], e['gid']]:
            print('%r: mode %o, owner %d, group %d' % (path, s['mode'], s['uid'], s['gid']))
        if e['type'] == 'symlink' and s['target'] != assay.text(e, 'target'):
            print('%r leads to %r' % (path, s['target']))
        if e['type'] == 'file' and s['size'] != e['size']:
            print('%r: %d bytes' % (path, s['size']))
        elif e['type'] == 'file' and s['size'] < 16 << 20:
            compressed += s['plugins'].get(0) == 4
            if 'sha256' in e and hashlib.sha256(reader.content(who)).hexdigest() != e['sha256']:
                print('%r: other contents' % path)
    for path in set(want) - found:
        print('%r is not found' % path)


if __name__ == '__main__':
    main()
