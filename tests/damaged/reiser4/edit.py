#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Damages a Reiser4 image with large keys at a place that is found by what lies there.

edit.py IMAGE block N OFFSET SIZE VALUE        bytes of a block
edit.py IMAGE node N OFFSET SIZE VALUE         of the N-th node met from the root down, 0 is the root
edit.py IMAGE head N K OFFSET SIZE VALUE       of the header of the K-th item of that node (32: offset of its body, 36: plugin)
edit.py IMAGE body N K OFFSET SIZE VALUE       of its body
edit.py IMAGE find PLUGIN N OFFSET SIZE VALUE  of the body of the N-th item of that plugin in the tree
edit.py IMAGE findhead PLUGIN N OFFSET SIZE VALUE   of its header
edit.py IMAGE bit BLOCK                        turns the block's bit in the first bitmap block, whose checksum stays right
VALUE: a number, +N or -N for more or less than what is there, "self" for the block that it lies in.
"""
import struct
import sys
import zlib

BS, MASTER = 4096, 16
HEADER = {0: 28, 1: 32}


class Image:
    def __init__(self, path):
        self.path, self.data = path, bytearray(open(path, 'rb').read())
        self.nodes, self.items = [], []
        self.walk(struct.unpack_from('<Q', self.data, (MASTER + 1) * BS + 16)[0])

    def u16(self, at):
        return struct.unpack_from('<H', self.data, at)[0]

    def head(self, node, k):
        return self.nodes[node] + BS - 38 * (k + 1)

    def walk(self, block):
        at = block * BS
        node = len(self.nodes)
        self.nodes.append(at)
        for k in range(self.u16(at + 2)):
            head = self.head(node, k)
            body, plugin = at + self.u16(head + 32), self.u16(head + 36)
            self.items.append((plugin, head, body))
            if plugin == 3:
                self.walk(struct.unpack_from('<Q', self.data, body)[0])

    def put(self, at, size, value):
        size = int(size)
        old = int.from_bytes(self.data[at:at + size], 'little')
        value = at // BS if value == 'self' else old + int(value) if value[0] in '+-' else int(value, 0)
        self.data[at:at + size] = (value % (1 << 8 * size)).to_bytes(size, 'little')


def main():
    image, what, words = Image(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if what == 'block':
        image.put(int(words[0]) * BS + int(words[1]), *words[2:])
    elif what == 'node':
        image.put(image.nodes[int(words[0])] + int(words[1]), *words[2:])
    elif what == 'head':
        image.put(image.head(int(words[0]), int(words[1])) + int(words[2]), *words[3:])
    elif what == 'body':
        node = int(words[0])
        image.put(image.nodes[node] + image.u16(image.head(node, int(words[1])) + 32) + int(words[2]), *words[3:])
    elif what in ('find', 'findhead'):
        item = [i for i in image.items if i[0] == int(words[0])][int(words[1])]
        image.put(item[1 if what == 'findhead' else 2] + int(words[2]), *words[3:])
    elif what == 'bit':
        at = (MASTER + 2) * BS
        image.data[at + 4 + int(words[0]) // 8] ^= 1 << int(words[0]) % 8
        struct.pack_into('<I', image.data, at, zlib.adler32(image.data[at + 4:at + BS]))
    else:
        sys.exit(__doc__)
    open(image.path, 'wb').write(image.data)


main()
