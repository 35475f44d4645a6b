#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Takes `fsassay map` at its word: what it calls free may hold anything. Knows no format.

punch.py hole IMAGE [OPTION...]     punches holes there
punch.py fill IMAGE [OPTION...]     overwrites it with 0xa5

The image is changed: give it a copy. Prints how many bytes that were.
"""
import ctypes
import os
import sys

from assay import fsassay_json

KEEP_SIZE, PUNCH_HOLE = 1, 2
libc = ctypes.CDLL(None, use_errno=True)


def main():
    way, image, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    document = fsassay_json(['map', '-J', *options, image])
    start = document['image_start']
    pattern = b'\xa5' * (1 << 20)
    total = 0
    fd = os.open(image, os.O_RDWR)
    for run in document['runs']:
        if run['purpose'] != 'free' or run['device'] != 0:
            continue
        at, left = start + run['offset'], run['length']
        total += left
        if way == 'hole':
            if libc.fallocate(fd, KEEP_SIZE | PUNCH_HOLE, ctypes.c_int64(at), ctypes.c_int64(left)) != 0:
                sys.exit('fallocate: %s' % os.strerror(ctypes.get_errno()))
            continue
        while left:
            done = os.pwrite(fd, pattern[:min(left, len(pattern))], at)
            at, left = at + done, left - done
    os.close(fd)
    if total == 0:
        sys.exit('nothing is free')
    print('%d bytes' % total)


main()
