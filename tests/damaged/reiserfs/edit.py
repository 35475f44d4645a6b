#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damages a ReiserFS image with one tree at a place that is found by what lies there.

edit.py IMAGE super OFFSET SIZE VALUE           bytes of the superblock
edit.py IMAGE node N OFFSET SIZE VALUE          of the N-th node met from the root down, 0 is the root
edit.py IMAGE head OID TYPE OFFSET SIZE VALUE   of the head of the first such item (type 0 stat data .. 3 directory)
edit.py IMAGE body OID TYPE OFFSET SIZE VALUE   of its body
edit.py IMAGE child N K VALUE                   the K-th pointer of the N-th node
edit.py IMAGE bit BLOCK                         turns the block's bit in the first bitmap
VALUE: a number, +N for more than what is there, "self" for the block that it lies in.
"""
import struct
import sys


class Image:
    def __init__(self, path):
        self.path, self.data = path, bytearray(open(path, 'rb').read())
        self.sb = 65536
        self.bs = self.u16(self.sb + 44)
        self.nodes, self.items = [], {}
        self.walk(self.u32(self.sb + 8))

    def u16(self, at):
        return struct.unpack_from('<H', self.data, at)[0]

    def u32(self, at):
        return struct.unpack_from('<I', self.data, at)[0]

    def walk(self, block):
        at = block * self.bs
        self.nodes.append(at)
        n = self.u16(at + 2)
        if self.u16(at) > 1:
            for k in range(n + 1):
                self.walk(self.u32(at + 24 + 16 * n + 8 * k))
            return
        for k in range(n):
            head = at + 24 + 24 * k
            oid, word = self.u32(head + 4), self.u32(head + 12)
            kind = word >> 28 if self.u16(head + 22) else {0: 0, 500: 3, 0xffffffff: 2}.get(word, 1)
            self.items.setdefault((oid, kind), (head, at + self.u16(head + 20)))

    def put(self, at, size, value):
        size = int(size)
        old = int.from_bytes(self.data[at:at + size], 'little')
        value = at // self.bs if value == 'self' else old + int(value) if value[0] in '+-' else int(value, 0)
        self.data[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, 'little')


def main():
    image, what, words = Image(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if what == 'super':
        image.put(image.sb + int(words[0]), *words[1:])
    elif what == 'node':
        image.put(image.nodes[int(words[0])] + int(words[1]), *words[2:])
    elif what == 'child':
        at = image.nodes[int(words[0])]
        image.put(at + 24 + 16 * image.u16(at + 2) + 8 * int(words[1]), 4, words[2])
    elif what == 'bit':
        image.data[(65536 // image.bs + 1) * image.bs + int(words[0]) // 8] ^= 1 << int(words[0]) % 8
    else:
        head, body = image.items[int(words[0]), int(words[1])]
        image.put((head if what == 'head' else body) + int(words[2]), *words[3:])
    with open(image.path, 'wb') as f:
        f.write(image.data)


if __name__ == '__main__':
    main()
