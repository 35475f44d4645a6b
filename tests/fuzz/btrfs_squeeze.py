#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Makes a small btrfs image of a sparse one: chunks are cut behind their last extent and moved together, and everything that
says where they lie is written anew with right checksums (crc32c). What comes out is a filesystem without a fault.

btrfs_squeeze.py IMAGE OUTPUT [no-sums]      no-sums: without checksums of contents, so that any contents are read
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'damaged'))
from btrfs_break import Image, crc32c  # noqa: E402

SLACK = 8192     # left free in each chunk
SUPER = 65536


def up(value, unit):
    return -(-value // unit) * unit


class Squeeze:
    def __init__(self, path, no_sums):
        self.src, self.no_sums, self.nodes = Image(path), no_sums, {}
        self.extents = [(k[0], self.src.node if k[1] == 169 else k[2]) for k, d in self.src.items(self.src.roots[2]) if k[1] in (168, 169)]
        # By logical address: old places, new length, new places.
        self.chunks = {}
        for start, length, places in self.src.chunks:
            used = max([e + n - start for e, n in self.extents if start <= e < start + length], default=0)
            self.chunks[start] = [places, min(length, up(used, self.src.sector) + SLACK), []]
        at = 0
        for old, start, i in sorted((p, start, i) for start, (places, _, _) in self.chunks.items() for i, p in enumerate(places)):
            length = self.chunks[start][1]
            # Nothing may lie on the superblock.
            if at < SUPER + 4096 and at + length > SUPER:
                at = SUPER + 4096
            self.chunks[start][2].append((i, at))
            at += length
        for c in self.chunks.values():
            c[2] = [p for _, p in sorted(c[2])]
        self.size = at
        self.used = sum(c[1] * len(c[2]) for c in self.chunks.values())
        self.moved = {old: new for c in self.chunks.values() for old, new in zip(c[0], c[2])}

    def new_places(self, logical):
        for start, (_, length, places) in self.chunks.items():
            if start <= logical < start + length:
                return [p + logical - start for p in places]
        raise SystemExit('%d is in no chunk' % logical)

    def device_item(self, b, at):
        struct.pack_into('<QQ', b, at + 8, self.size, self.used)

    def chunk_item(self, b, at, logical):
        struct.pack_into('<Q', b, at, self.chunks[logical][1])
        for i, p in enumerate(self.chunks[logical][2]):
            struct.pack_into('<Q', b, at + 48 + 32 * i + 8, p)

    def item(self, b, k):
        head = 101 + 25 * k
        o, t, f, at, n = struct.unpack_from('<QBQII', b, head)
        at += 101
        if t == 228:
            self.chunk_item(b, at, f)
        elif t == 216:
            self.device_item(b, at)
        elif t == 204:
            struct.pack_into('<Q', b, at + 24, self.chunks[struct.unpack_from('<Q', b, at + 16)[0]][1])
            struct.pack_into('<Q', b, head + 9, self.moved[f])
        elif t in (192, 198) and o in self.chunks:
            struct.pack_into('<Q', b, head + 9, self.chunks[o][1])
        elif t in (199, 200):
            for start, (_, length, _) in self.chunks.items():
                if start <= o < start + length:
                    struct.pack_into('<Q', b, head + 9, min(f, start + length - o))

    def tree(self, logical):
        """Rewrites a tree from the leaves up; its first key."""
        if logical in self.nodes:
            return bytes(self.nodes[logical][101:118])
        b = self.nodes[logical] = self.src.block(logical)
        for k in range(struct.unpack_from('<I', b, 96)[0]):
            if b[100] == 0:
                self.item(b, k)
            else:
                at = 101 + 33 * k
                b[at:at + 17] = self.tree(struct.unpack_from('<Q', b, at + 17)[0])
        return bytes(b[101:118])

    def leaves_without_sums(self):
        for where, b in self.src.leaves(self.src.roots[7]):
            struct.pack_into('<I', self.nodes[where], 96, 0)

    def write(self, path):
        with open(path, 'wb') as f:
            f.truncate(self.size)
            for start, length in self.extents:
                if start in self.nodes:
                    continue
                for old, new in zip(self.src.places(start), self.new_places(start)):
                    f.seek(new)
                    f.write(self.src.read(old, length))
            for where, b in self.nodes.items():
                struct.pack_into('<I', b, 0, crc32c(bytes(b[32:])))
                for place in self.new_places(where):
                    f.seek(place)
                    f.write(b)
            s = self.src.sb
            struct.pack_into('<Q', s, 0x70, self.size)
            self.device_item(s, 0xc9)
            at, end = 0x32b, 0x32b + struct.unpack_from('<I', s, 0xa0)[0]
            while at < end:
                self.chunk_item(s, at + 17, struct.unpack_from('<Q', s, at + 9)[0])
                at += 17 + 48 + 32 * struct.unpack_from('<H', s, at + 17 + 44)[0]
            struct.pack_into('<I', s, 0, crc32c(bytes(s[32:])))
            f.seek(SUPER)
            f.write(s)

    def run(self, path):
        self.tree(self.src.chunk_root)
        self.tree(self.src.root)
        for root in self.src.all_roots():
            self.tree(root)
        if self.no_sums:
            self.leaves_without_sums()
        self.write(path)


if __name__ == '__main__':
    Squeeze(sys.argv[1], 'no-sums' in sys.argv[3:]).run(sys.argv[2])
