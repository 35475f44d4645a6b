#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Breaks a btrfs image in one named way, checksums (crc32c) made right again where the damage is not the checksum itself.

btrfs_break.py IMAGE KIND
"""
import struct
import sys

TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    TABLE.append(c)


def crc32c(data):
    c = 0xffffffff
    for byte in data:
        c = TABLE[(c ^ byte) & 0xff] ^ c >> 8
    return c ^ 0xffffffff


class Image:
    def __init__(self, path):
        self.file = open(path, 'r+b')
        self.sb = self.read(65536, 4096)
        (self.generation, self.root, self.chunk_root) = struct.unpack_from('<QQQ', self.sb, 0x48)
        (self.sector, self.node) = struct.unpack_from('<II', self.sb, 0x90)
        self.chunks = []
        at, end = 0x32b, 0x32b + struct.unpack_from('<I', self.sb, 0xa0)[0]
        while at < end:
            at += 17 + self.chunk(struct.unpack_from('<Q', self.sb, at + 9)[0], self.sb, at + 17)
        for key, data in self.items(self.chunk_root):
            if key[1] == 228 and key[2] not in [c[0] for c in self.chunks]:
                self.chunk(key[2], data, 0)
        self.roots = {k[0]: struct.unpack_from('<Q', d, 176)[0] for k, d in self.items(self.root) if k[1] == 132}

    def all_roots(self):
        return [struct.unpack_from('<Q', d, 176)[0] for k, d in self.items(self.root) if k[1] == 132]

    def read(self, at, n):
        self.file.seek(at)
        return bytearray(self.file.read(n))

    def chunk(self, logical, data, at):
        length = struct.unpack_from('<Q', data, at)[0]
        stripes = struct.unpack_from('<H', data, at + 44)[0]
        self.chunks.append((logical, length, [struct.unpack_from('<Q', data, at + 48 + 32 * i + 8)[0] for i in range(stripes)]))
        return 48 + 32 * stripes

    def places(self, logical):
        for start, length, stripes in self.chunks:
            if start <= logical < start + length:
                return [s + logical - start for s in stripes]
        raise SystemExit('no chunk for %d' % logical)

    def block(self, logical):
        return self.read(self.places(logical)[0], self.node)

    def leaves(self, logical):
        b = self.block(logical)
        if b[100] == 0:
            yield logical, b
            return
        for i in range(struct.unpack_from('<I', b, 96)[0]):
            yield from self.leaves(struct.unpack_from('<Q', b, 101 + 33 * i + 17)[0])

    def items(self, logical):
        for _, b in self.leaves(logical):
            for i in range(struct.unpack_from('<I', b, 96)[0]):
                o, t, f, at, n = struct.unpack_from('<QBQII', b, 101 + 25 * i)
                yield (o, t, f), bytes(b[101 + at:101 + at + n])

    def find(self, logical, kind, skip=lambda data: False):
        """Leaf, its address, and where the data of the first item of a kind lies in it."""
        for where, b in self.leaves(logical):
            for i in range(struct.unpack_from('<I', b, 96)[0]):
                _, t, _, at, n = struct.unpack_from('<QBQII', b, 101 + 25 * i)
                if t == kind and not skip(b[101 + at:101 + at + n]):
                    return where, b, 101 + at, i
        raise SystemExit('no item of kind %d' % kind)

    def write(self, logical, b, copies=None):
        struct.pack_into('<I', b, 0, crc32c(bytes(b[32:])))
        for place in self.places(logical)[:copies]:
            self.file.seek(place)
            self.file.write(b)

    def poke(self, places, offset, data):
        for place in places:
            self.file.seek(place + offset)
            self.file.write(data)


    def sum_again(self, logical):
        """The checksum of one sector made right again in the checksum tree."""
        for where, b in self.leaves(self.roots[7]):
            for k in range(struct.unpack_from('<I', b, 96)[0]):
                o, t, f, at, n = struct.unpack_from('<QBQII', b, 101 + 25 * k)
                if t == 128 and f <= logical < f + n // 4 * self.sector:
                    data = bytes(self.read(self.places(logical)[0], self.sector))
                    struct.pack_into('<I', b, 101 + at + (logical - f) // self.sector * 4, crc32c(data))
                    self.write(where, b)
                    return
        raise SystemExit('no checksum for %d' % logical)


def plain(data):
    """A regular file extent that is not compressed, of four sectors at least."""
    return len(data) == 53 and data[20] == 1 and data[16] == 0 and struct.unpack_from('<Q', data, 45)[0] >= 16384 and \
        struct.unpack_from('<Q', data, 21)[0]


def compressed(data):
    """A regular file extent that is compressed."""
    return len(data) == 53 and data[20] == 1 and data[16] != 0


def main(path, kind):
    i = Image(path)
    fs = i.roots[5]
    top = i.block(fs)
    if kind == 'one-copy':
        i.poke(i.places(fs)[1:], 500, b'\xa5' * 8)
    elif kind == 'both-copies':
        leaf = list(i.leaves(fs))[1][0]
        i.poke(i.places(leaf), 500, b'\xa5' * 8)
    elif kind == 'transid':
        leaf, b = list(i.leaves(fs))[1]
        struct.pack_into('<Q', b, 80, struct.unpack_from('<Q', b, 80)[0] + 1)
        i.write(leaf, b)
    elif kind == 'level':
        leaf, b = list(i.leaves(fs))[1]
        b[100] = 3
        i.write(leaf, b)
    elif kind == 'item-offset':
        leaf, b = list(i.leaves(fs))[1]
        struct.pack_into('<I', b, 101 + 25 * 3 + 17, 60000)
        i.write(leaf, b)
    elif kind == 'item-count':
        leaf, b = list(i.leaves(fs))[1]
        struct.pack_into('<I', b, 96, 100000)
        i.write(leaf, b)
    elif kind == 'cycle':
        struct.pack_into('<Q', top, 101 + 33 + 17, fs)
        i.write(fs, top)
    elif kind == 'same-child':
        struct.pack_into('<Q', top, 101 + 33 + 17, struct.unpack_from('<Q', top, 101 + 17)[0])
        i.write(fs, top)
    elif kind == 'chunk-overlap':
        where, b, at, n = i.find(i.chunk_root, 228)
        last = max(k for k in range(struct.unpack_from('<I', b, 96)[0]) if b[101 + 25 * k + 8] == 228)
        struct.pack_into('<Q', b, at, struct.unpack_from('<Q', b, 101 + 25 * last + 9)[0])
        i.write(where, b)
    elif kind == 'chunk-stripes':
        where, b, at, n = i.find(i.chunk_root, 228)
        struct.pack_into('<H', b, at + 44, 999)
        i.write(where, b)
    elif kind == 'expands':
        # A compressed extent whose stream makes more than the extent says.
        where, b, at, n = i.find(fs, 108, lambda d: not compressed(d) or struct.unpack_from('<Q', d, 8)[0] < 8192)
        struct.pack_into('<Q', b, at + 8, 4096)
        struct.pack_into('<Q', b, at + 45, 4096)
        i.write(where, b)
    elif kind == 'stream':
        where, b, at, n = i.find(fs, 108, lambda d: not compressed(d))
        sector = struct.unpack_from('<Q', b, at + 21)[0]
        i.poke(i.places(sector), 1, b'\xff' * 64)
        i.sum_again(sector)
    elif kind in ('data-copy', 'data-second', 'data-all', 'data-compressed'):
        # The second and third sector of an extent on the first copy, the second copy, all copies.
        where, b, at, n = i.find(fs, 108, lambda d: not (compressed if kind == 'data-compressed' else plain)(d))
        start = struct.unpack_from('<Q', b, at + 21)[0]
        places = i.places(start)
        chosen = {'data-second': places[1:], 'data-all': places}.get(kind, places[:1])
        if kind == 'data-compressed':
            i.poke(chosen, 77, b'\xa5' * 8)
        else:
            i.poke(chosen, i.sector + 100, b'\xa5' * i.sector)
        print('%d %d' % (struct.unpack_from('<Q', b, 101 + 25 * n)[0], places[0] if kind == 'data-copy' else chosen[0]))
    elif kind == 'no-csum':
        where, b = next(i.leaves(i.roots[7]))
        struct.pack_into('<I', b, 96, 0)
        i.write(where, b)
    elif kind == 'link-count':
        where, b, at, n = i.find(fs, 1, lambda d: struct.unpack_from('<I', d, 52)[0] & 0o170000 != 0o100000)
        struct.pack_into('<I', b, at + 40, 77)
        i.write(where, b)
    elif kind == 'name':
        where, b, at, n = i.find(fs, 84)
        b[at + 30] ^= 1
        i.write(where, b)
    elif kind == 'references':
        where, b, at, n = i.find(i.roots[2], 168)
        struct.pack_into('<Q', b, at, 9)
        i.write(where, b)
    elif kind == 'group-used':
        where, b, at, n = i.find(i.roots[2], 192)
        struct.pack_into('<Q', b, at, struct.unpack_from('<Q', b, at)[0] + 4096)
        i.write(where, b)
    elif kind.startswith('incompat-'):
        bits = struct.unpack_from('<Q', i.sb, 0xbc)[0] | 1 << int(kind[9:])
        for place in (65536, 64 << 20):
            sb = i.read(place, 4096)
            struct.pack_into('<Q', sb, 0xbc, bits)
            struct.pack_into('<I', sb, 0, crc32c(bytes(sb[32:])))
            i.poke([place], 0, sb)
    elif kind == 'super-copy':
        i.poke([64 << 20], 100, b'\x77' * 4)
    elif kind == 'super':
        i.poke([65536], 100, b'\x77' * 4)
    else:
        raise SystemExit('unknown kind ' + kind)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
