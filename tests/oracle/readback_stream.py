#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads a dump stream on its own terms and copies it: every header's magic number, sum and place are checked.

readback_stream.py [--largest BYTES] <IN >OUT
Inodes of more than BYTES are left out of the copy: restore(8) takes minutes for the holes of a file of a TiB. Exit
status 1 with a line on standard error when something is wrong.
"""
import struct
import sys

RECORD = 1024
MAGIC, CHECKSUM = 60012, 84446
TAPE, INODE, BITS, ADDR, END, CLRI = range(1, 7)
ADDR_BYTES = struct.pack('<I', ADDR)


def fail(place, why):
    sys.exit('record %d: %s' % (place, why))


def main():
    largest = int(sys.argv[2]) if sys.argv[1:2] == ['--largest'] else None
    source, out = sys.stdin.buffer, sys.stdout.buffer
    place, previous, directories, leave_out = 0, 0, True, None
    mapped, found, kinds = set(), set(), []
    while True:
        header = source.read(RECORD)
        # The holes of what is left out are most of the stream.
        if leave_out is not None and header[:4] == ADDR_BYTES and not any(header[164:676]):
            place += 1
            continue
        if not header and kinds and kinds[-1] == END:
            break
        if len(header) != RECORD:
            fail(place, 'the stream ends in the middle')
        kind, date, _, volume, at, number, magic = struct.unpack_from('<7I', header)
        mode, = struct.unpack_from('<H', header, 32)
        size, = struct.unpack_from('<Q', header, 40)
        count, = struct.unpack_from('<I', header, 160)
        flags, = struct.unpack_from('<I', header, 888)
        if magic != MAGIC:
            fail(place, 'magic %d' % magic)
        if at != place & 0xffffffff or volume != 1:
            fail(place, 'says it is record %d of volume %d' % (at, volume))
        skipped = kind in (INODE, ADDR) and largest is not None and leave_out == number and not flags & 0x8000
        if kind == INODE and not flags & 0x8000:
            skipped = largest is not None and size > largest
            leave_out = number if skipped else None
        if not skipped and sum(struct.unpack('<256I', header)) & 0xffffffff != CHECKSUM:
            fail(place, 'words do not add up')
        place += 1
        if kind in (CLRI, BITS):
            data = source.read(count * RECORD)
            place += count
            if kind == BITS:
                mapped = {8 * i + b + 1 for i, byte in enumerate(data) if byte for b in range(8) if byte >> b & 1}
        elif kind in (INODE, ADDR):
            follow = sum(header[164:164 + count])
            data = source.read(follow * RECORD)
            place += follow
            if kind == INODE and not flags & 0x8000:
                if mode & 0o170000 == 0o040000 and not directories:
                    fail(place, 'directory %d after other inodes' % number)
                if mode & 0o170000 != 0o040000 and directories:
                    directories, previous = False, 0
                if number <= previous:
                    fail(place, 'inode %d after %d' % (number, previous))
                found.add(number)
                previous = number
            elif number != previous:
                fail(place, 'more of inode %d after inode %d' % (number, previous))
        else:
            data = b''
        if not kinds or kinds[-1] != kind:
            kinds.append(kind)
        if not skipped:
            out.write(header)
            out.write(data)
    if kinds[:3] != [TAPE, CLRI, BITS]:
        fail(place, 'starts with records of kinds %r' % kinds[:3])
    if place % 32:
        fail(place, 'no whole number of blocks')
    if mapped != found:
        fail(place, 'the map and the stream differ in %r' % sorted(mapped ^ found)[:5])


if __name__ == '__main__':
    main()
