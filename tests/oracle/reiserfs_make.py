#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Writes a small ReiserFS image, in layouts that no kernel fills: block sizes of 512 and 8192, format 3.5, superblock at
8 KiB with the bitmaps behind it, safe links, transactions that wait in the journal. Written from FORMAT.md, not from the
parser; reiserfsck judges what it makes.

reiserfs_make.py OUT [WORD...]
words: block=N format=3.5|3.6 hash=r5|tea|rupasov|unset place=old journal=N (blocks) moved=BLOCK external=FILE reserved=N
       size=BYTES names=N pending=N safe-links deleted standard (magic)
Prints a JSON manifest: path to {"oid", "type", "size", "sha256", "target", "xattrs"}.
"""
import base64
import hashlib
import json
import struct
import sys

STAT, INDIRECT, DIRECT, DIRENTRY = range(4)
UNIQUENESS = {STAT: 0, INDIRECT: 0xfffffffe, DIRECT: 0xffffffff, DIRENTRY: 500}
M = 0xffffffff


def signed(b):
    return b - 256 if b > 127 else b


def r5(name):
    a = 0
    for b in name:
        c = signed(b)
        a = (a + (c << 4) + (c >> 4)) * 11 & M
    return a


def rupasov(name):
    n = len(name)
    a = sum((signed(b) - 48) * 10 ** (n - 1 - i) for i, b in enumerate(name))
    return (a + sum(range(max(n, 40), 256))) << 7 & M


def tea(name):
    h = [0x9464a485, 0x542e1a94]
    pad = len(name) | len(name) << 8
    pad |= pad << 16

    def core(words, rounds):
        total, (b0, b1) = 0, h
        for _ in range(rounds):
            total = total + 0x9e3779b9 & M
            b0 = b0 + (((b1 << 4) + words[0] & M) ^ (b1 + total & M) ^ ((b1 >> 5) + words[1] & M)) & M
            b1 = b1 + (((b0 << 4) + words[2] & M) ^ (b0 + total & M) ^ ((b0 >> 5) + words[3] & M)) & M
        h[0], h[1] = h[0] + b0 & M, h[1] + b1 & M

    def word(p):
        w = 0
        for i in range(4):
            w |= signed(name[p + i]) << 8 * i & M
        return w
    at = 0
    while len(name) - at >= 16:
        core([word(at + 4 * i) for i in range(4)], 6)
        at += 16
    words, k = [pad] * 4, 0
    while len(name) - at >= 4:
        words[k], at, k = word(at), at + 4, k + 1
    for b in name[at:]:
        words[k] = (words[k] << 8 | signed(b)) & M
    core(words, 10)
    return h[0] ^ h[1]


HASHES = {'r5': (3, r5), 'tea': (1, tea), 'rupasov': (2, rupasov), 'unset': (0, r5)}


def up8(n):
    return n + 7 & ~7


class Image:
    def __init__(self, words):
        opt = dict(w.partition('=')[::2] for w in words)
        self.opt = opt
        self.bs = int(opt.get('block', 4096))
        self.v2 = opt.get('format', '3.6') == '3.6'
        self.hash_code, self.hash = HASHES[opt.get('hash', 'r5')]
        self.old = opt.get('place') == 'old'
        self.blocks = int(opt.get('size', 1 << 20)) // self.bs
        self.journal = int(opt.get('journal', 512))
        self.data = bytearray(self.blocks * self.bs)
        bits = self.bs * 8
        self.bitmaps = -(-self.blocks // bits)
        sb = (8192 if self.old else 65536) // self.bs
        self.sb = sb
        self.bitmap_blocks = [sb + 1 + n for n in range(self.bitmaps)] if self.old else \
            [sb + 1] + [n * bits for n in range(1, self.bitmaps)]
        self.first_reserved = sb + 1 + (self.bitmaps if self.old else 1)
        self.external = opt.get('external')
        self.moved = int(opt.get('moved', 0))
        self.jr = 'standard' not in opt
        self.reserved = int(opt.get('reserved', 0))
        self.journal_first = 0 if self.external else self.moved or self.first_reserved
        self.used = set(range(sb + 1)) | set(self.bitmap_blocks)
        if self.external:
            self.used |= set(range(self.first_reserved, self.first_reserved + self.reserved))
        else:
            self.used |= set(range(self.journal_first, self.journal_first + self.journal + 1))
            if self.reserved and not self.moved:
                self.used |= set(range(self.first_reserved, self.first_reserved + self.reserved))
        # Where a journal would lie by default reiserfsck takes no node, though the bitmap has it as free.
        self.cursor = self.first_reserved + (self.journal + 1 if self.moved else 0)
        self.items, self.manifest, self.next_oid = [], {}, 3
        self.dirs = {}

    def allocate(self):
        while self.cursor in self.used:
            self.cursor += 1
        self.used.add(self.cursor)
        return self.cursor

    def put(self, block, body, at=0):
        self.data[block * self.bs + at:block * self.bs + at + len(body)] = body

    def item(self, d, o, offset, kind, body, v2, count=0xffff):
        if v2:
            key = struct.pack('<IIQ', d, o, offset | kind << 60)
        else:
            key = struct.pack('<IIII', d, o, offset, UNIQUENESS[kind])
        self.items.append(((d, o, offset, kind), key, body, 1 if v2 else 0, count))

    # objects

    def stat(self, d, o, mode, size, links, blocks, rdev=None, direct=M):
        if self.v2:
            body = struct.pack('<HHIQIIIIIII', mode, 0, links, size, 1000, 100, 10 ** 9, 1234567890, 1300000000, blocks,
                               rdev if rdev is not None else o + 5)
        else:
            body = struct.pack('<HHHHIIIIII', mode, links, 1000, 100, size, 10 ** 9, 1234567890, 1300000000,
                               rdev if rdev is not None else blocks, direct)
        self.item(d, o, 0, STAT, body, self.v2)

    def directory(self, d, o, parent, links_extra=0, links=None):
        self.dirs[o] = {'dir': d, 'oid': o, 'parent': parent, 'entries': [], 'subs': 0, 'extra': links_extra, 'links': links}

    def enter(self, directory, name, d, o, sub=False):
        self.dirs[directory]['entries'].append((name, d, o))
        self.dirs[directory]['subs'] += sub

    def oid(self):
        self.next_oid += 1
        return self.next_oid - 1

    def file(self, directory, name, content, holes=(), links=1, tail=True, named=True):
        """`holes`: blocks that are left out."""
        o, bs = self.oid(), self.bs
        full = len(content) // bs * bs if tail else -(-len(content) // bs) * bs
        pointers, blocks = [], 0
        for at in range(0, full, bs):
            if at // bs in holes:
                pointers.append(0)
            else:
                block = self.allocate()
                self.put(block, content[at:at + bs])
                pointers.append(block)
                blocks += bs // 512
        rest = content[full:]
        if rest:
            blocks += bs // 512
        self.stat(directory, o, 0o100644, len(content), links, blocks, direct=full + 1 if rest else M)
        most = (bs - 48) // 4
        for k in range(0, len(pointers), most):
            part = pointers[k:k + most]
            self.item(directory, o, k * bs + 1, INDIRECT, b''.join(struct.pack('<I', p) for p in part), self.v2, 0)
        if rest:
            body = rest + bytes(up8(len(rest)) - len(rest)) if self.v2 else rest
            self.item(directory, o, full + 1, DIRECT, body, self.v2)
        if named:
            self.enter(directory, name, directory, o)
        return o

    def special(self, directory, name, mode, rdev):
        o = self.oid()
        self.stat(directory, o, mode, 0, 1, 0, rdev)
        self.enter(directory, name, directory, o)
        return o

    def symlink(self, directory, name, target):
        o = self.oid()
        self.stat(directory, o, 0o120777, len(target), 1, 1, direct=1)
        self.item(directory, o, 1, DIRECT, target + bytes((up8(len(target)) - len(target)) if self.v2 else 0), False)
        self.enter(directory, name, directory, o)
        return o

    def finish_directories(self):
        for d in self.dirs.values():
            rows = [(1, b'.', d['dir'], d['oid']), (2, b'..') + d['parent']]
            taken = set()
            for name, dd, o in d['entries']:
                h = self.hash(name) & 0x7fffff80 or 128
                while h in taken:
                    h += 1
                taken.add(h)
                rows.append((h, name, dd, o))
            rows.sort(key=lambda r: r[0])
            pad = up8 if self.v2 else lambda n: n
            groups, size = [[]], 0
            for row in rows:
                need = 16 + pad(len(row[1]))
                if size + need > self.bs - 48 and groups[-1]:
                    groups.append([])
                    size = 0
                groups[-1].append(row)
                size += need
            total = 0
            for group in groups:
                body_len = sum(16 + pad(len(r[1])) for r in group)
                heads, names, at = b'', b'', body_len
                for h, name, dd, o in group:
                    at -= pad(len(name))
                    heads += struct.pack('<IIIHH', h, dd, o, at, 4)
                    names = name + bytes(pad(len(name)) - len(name)) + names
                self.item(d['dir'], d['oid'], group[0][0], DIRENTRY, heads + names, False, len(group))
                total += body_len
            links = 2 + d['subs'] + d['extra'] if d['links'] is None else d['links']
            self.stat(d['dir'], d['oid'], 0o40755, total, links, -(-total // 512))

    # the tree

    def tree(self):
        bs = self.bs
        self.items.sort(key=lambda i: i[0])
        leaves, current, size = [], [], 24
        for i in self.items:
            # Only tails are cut, where a leaf is full; in one leaf two pieces of a tail would be one.
            room = (bs - size - 24) // 8 * 8
            if 8 <= room < len(i[2]) and i[0][3] == DIRECT and len(i[2]) > 64:
                d, o, offset, kind = i[0]
                current.append((i[0], i[1], i[2][:room], i[3], i[4]))
                key = struct.pack('<IIQ', d, o, offset + room | kind << 60) if i[3] else \
                    struct.pack('<IIII', d, o, offset + room, UNIQUENESS[kind])
                i = ((d, o, offset + room, kind), key, i[2][room:], i[3], i[4])
                size = bs
            if size + 24 + len(i[2]) > bs:
                leaves.append(current)
                current, size = [], 24
            current.append(i)
            size += 24 + len(i[2])
        leaves.append(current)
        level, nodes = 1, []
        for leaf in leaves:
            block, heads, bodies, at = self.allocate(), b'', b'', bs
            for _, key, body, version, count in leaf:
                at -= len(body)
                heads += key + struct.pack('<HHHH', count, len(body), at, version)
                bodies = body + bodies
            free = at - 24 - len(heads)
            self.put(block, struct.pack('<HHHH', 1, len(leaf), free, 0) + bytes(16) + heads)
            self.put(block, bodies, at)
            nodes.append((leaf[0][1], block, bs - 24 - free))
        while len(nodes) > 1:
            level += 1
            most, above = (bs - 24 - 8) // 24 + 1, []
            for k in range(0, len(nodes), most):
                group, block = nodes[k:k + most], self.allocate()
                body = b''.join(n[0] for n in group[1:]) + b''.join(struct.pack('<IHH', n[1], n[2], 0) for n in group)
                self.put(block, struct.pack('<HHHH', level, len(group) - 1, bs - 24 - len(body), 0) + bytes(16) + body)
                above.append((group[0][0], block, len(body)))
            nodes = above
        return nodes[0][1], level + 1

    def params(self):
        return struct.pack('<8I', self.journal_first, 0, self.journal, self.journal // 8, 0x1234567, self.journal // 8, 30, 30)

    def write(self, out):
        self.finish_directories()
        root, height = self.tree()
        free = self.blocks - len(self.used)
        magic = b'ReIsEr3Fs' if self.jr else b'ReIsEr2Fs' if self.v2 else b'ReIsErFs'
        sb = struct.pack('<III', self.blocks, free, root) + self.params()
        room = (self.bs - (204 if self.v2 else 76)) // 4 & ~1
        sb += struct.pack('<HHHH', self.bs, room, 2, 1) + magic.ljust(10, b'\0')
        sb += struct.pack('<HIHHHH', 0, self.hash_code, height, self.bitmaps, 2 if self.v2 else 0,
                          self.reserved or (self.journal + 1 if self.jr and not self.external else 0))
        if self.v2:
            sb += struct.pack('<II', self.next_oid, 1) + bytes(range(16, 32)) + b'made by test'.ljust(16, b'\0')
            sb = sb.ljust(204, b'\0')
        sb += struct.pack('<II', 1, self.next_oid)
        self.put(self.sb, sb)
        for n, block in enumerate(self.bitmap_blocks):
            bits = bytearray(self.bs)
            for b in range(self.bs * 8):
                if n * self.bs * 8 + b >= self.blocks or n * self.bs * 8 + b in self.used:
                    bits[b // 8] |= 1 << b % 8
            self.put(block, bits)
        log = bytearray((self.journal_first + self.journal + 1) * self.bs if self.external else 0)
        target = log if self.external else self.data
        header = (self.journal_first + self.journal) * self.bs
        target[header:header + 44] = struct.pack('<III', 7, 5, 3) + self.params()
        at = 5
        for k in range(int(self.opt.get('pending', 0))):
            first = (self.journal_first + at % self.journal) * self.bs
            target[first:first + 16] = struct.pack('<IIII', 8 + k, 1, 3, root)
            target[first + self.bs - 12:first + self.bs - 4] = b'ReIsErLB'
            copy = (self.journal_first + (at + 1) % self.journal) * self.bs
            target[copy:copy + self.bs] = self.data[root * self.bs:(root + 1) * self.bs]
            last = (self.journal_first + (at + 2) % self.journal) * self.bs
            target[last:last + 8] = struct.pack('<II', 8 + k, 1)
            at += 3
        with open(out, 'wb') as f:
            f.write(self.data)
        if self.external:
            with open(self.external, 'wb') as f:
                f.write(log)


def fill(image):
    made = {}

    def note(path, oid, kind, content=None, **more):
        made[path] = dict(oid=oid, type=kind, **more)
        if content is not None:
            made[path].update(size=len(content), sha256=hashlib.sha256(content).hexdigest())

    bs = image.bs
    blob = bytes((i * i + i // 251) & 255 for i in range(20 * bs))
    image.directory(1, 2, (0, 1), links_extra=1)
    small = image.file(2, b'small', b'x' * 100, links=2)
    note('small', small, 'file', b'x' * 100)
    image.enter(2, b'again', 2, small)
    note('again', small, 'file', b'x' * 100)
    note('empty', image.file(2, b'empty', b''), 'file', b'')
    content = blob[:bs + bs * 5 // 8 // 8 * 8 + 5]
    note('tail', image.file(2, b'tail', content), 'file', content)
    content = blob[:13 * bs]
    note('blocks', image.file(2, b'blocks', content), 'file', content)
    content = blob[:2 * bs] + bytes(3 * bs) + blob[:bs] + bytes(2 * bs) + blob[:bs // 2]
    note('holes', image.file(2, b'holes', content, holes=(2, 3, 4, 6, 7), tail=False), 'file', content)
    note('pointer', image.symlink(2, b'pointer', b'sub/deep/leaf'), 'symlink', target='sub/deep/leaf')
    note('fifo', image.special(2, b'fifo', 0o10600, 0), 'fifo')
    note('tty', image.special(2, b'tty', 0o20600, 5 << 8 | 1), 'char')
    sub = image.oid()
    image.directory(2, sub, (1, 2))
    image.enter(2, b'sub', 2, sub, True)
    note('sub', sub, 'directory')
    deep = image.oid()
    image.directory(sub, deep, (2, sub))
    image.enter(sub, b'deep', sub, deep, True)
    note('sub/deep', deep, 'directory')
    note('sub/deep/leaf', image.file(deep, b'leaf', b'leaf\n'), 'file', b'leaf\n')
    many = image.oid()
    image.directory(2, many, (1, 2))
    image.enter(2, b'many', 2, many, True)
    note('many', many, 'directory')
    for k in range(int(image.opt.get('names', 60))):
        name = ('name %d \u00e4\u00df' % k) * (1 + k % 7)
        content = blob[k:k + 10 * k + 1][:bs - 120]
        note('many/' + name, image.file(many, name.encode(), content), 'file', content)
    if 'deleted' in image.opt:
        gone = image.file(2, b'', blob[:bs + 40], links=0, named=False)
        if 'safe-links' in image.opt:
            image.item(M, gone, bs + 1, DIRECT, struct.pack('<I', 2), False)
    if 'safe-links' in image.opt:
        image.item(M, small, 1, INDIRECT, struct.pack('<I', 2), False, 0)
    if image.v2:
        attributes(image, small, made)
    return made


def attributes(image, owner, made):
    priv, root, home = image.oid(), image.oid(), image.oid()
    image.directory(2, priv, (1, 2))
    image.enter(2, b'.reiserfs_priv', 2, priv, True)
    image.directory(priv, root, (2, priv))
    image.enter(priv, b'xattrs', priv, root, True)
    image.directory(root, home, (priv, root))
    image.enter(root, b'%X.%X' % (owner, owner + 5), root, home, True)
    shown = {}
    acl = struct.pack('<I', 1) + struct.pack('<HHHHIHHHHHH', 1, 6, 2, 4, 1234, 4, 4, 16, 4, 32, 0)
    want = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *e) for e in
                                           ((1, 6, M), (2, 4, 1234), (4, 4, M), (16, 4, M), (32, 0, M)))
    for name, disk, value in ((b'user.one', b'value', None), (b'user.long', bytes(range(256)) * 9, None), (b'user.none', b'', None),
                              (b'system.posix_acl_access', acl, want)):
        total = sum(struct.unpack('<%dH' % ((len(disk) + 1) // 2), disk + bytes(len(disk) & 1)))
        while total >> 16:
            total = (total & 0xffff) + (total >> 16)
        image.file(home, name, struct.pack('<II', 0x52465841, total) + disk, tail=len(disk) < 200)
        shown[name.decode()] = base64.b64encode(value or disk).decode()
    made['small']['xattrs'] = made['again']['xattrs'] = shown


if __name__ == '__main__':
    picture = Image(sys.argv[2:])
    made = fill(picture)
    picture.write(sys.argv[1])
    json.dump(made, sys.stdout)
