#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A tree that restore(8) made of `fsassay extract --dump`, against the manifest of the image. Knows no format.

readback_restored.py MANIFEST ROOT BLOCK-SIZE LARGEST [NAME]
What a dump or restore(8) itself cannot do is not asked for: names of 255 bytes (restore loses them) and what is below
them, files of more than LARGEST bytes (left out on the way), devices whose number is none in a signed int, times before
1970 or after 2106, their nanoseconds, attributes in other name spaces or of 4 KiB, and times of symbolic links.
"""
import os
import sys

import assay
from unpacked import Tree

NAME_SPACES = ('user.', 'trusted.', 'security.', 'lustre.', 'system.posix_acl_')


def is_asked_for(entry, largest):
    if any(len(part) > 254 for part in assay.place(entry).split(b'/')):
        return False
    if entry['type'] == 'file' and entry['size'] > largest:
        return False
    return not ('rdev' in entry and (entry['rdev'][0] > 0xfff or entry['rdev'][1] > 0x7ffff))


class Restored(Tree):
    def problem(self, name, what):
        # In place of a name of 255 bytes restore(8) makes one of whatever is in memory.
        if what == 'is not in the image' and any(name.startswith(d + b'/') for d in self.changed if d):
            return
        # A record is 1 KiB, and the hole in a packed tail is bytes on disk: less than a block is no hole that was lost.
        if what.endswith('holes are lost'):
            held, most = [int(w) for w in what.split() if w.isdigit()]
            if held - most < max(self.unit, 4096):
                return
        super().problem(name, what)

    def time(self, name, entry, path, mtime):
        sec, nsec = entry['mtime']['sec'], entry['mtime']['nsec']
        if entry['type'] == 'symlink' or not 0 <= sec < 1 << 32 or name in self.changed:
            return
        want = sec * 10 ** 9 + nsec // 1000 * 1000
        # restore(8) keeps what the place it writes to keeps: whole ticks of it.
        if mtime // 1000 * 1000 != want:
            self.problem(name, 'mtime %d and not %d' % (mtime, want))


def main():
    manifest, root, block_size, largest = assay.load(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    asked = [e for e in manifest['entries'] if is_asked_for(e, largest)]
    left = [assay.place(e) for e in manifest['entries'] if not is_asked_for(e, largest)]
    tree = Restored(root, block_size)
    # The table that restore leaves in the root, and entries that it could not make, change a directory's time.
    tree.changed = {b''} | {os.path.dirname(p) for p in left}
    for entry in asked:
        if 'xattrs' in entry:
            entry['xattrs'] = {n: v for n, v in entry['xattrs'].items()
                               if n.startswith(NAME_SPACES) and len(v) * 3 // 4 + len(n) < 4000}
        if 'first' in entry and not any(assay.place(e) == assay.place(entry, 'first') for e in asked):
            del entry['first']
    names = {assay.place(e) for e in asked}
    problems = tree.compare([e for e in asked if os.path.dirname(assay.place(e)) in names | {b''}],
                            [b'lost+found', b'restoresymtable'] + left)
    print(len(asked), 'entries compared,', len(left), 'not asked for', file=sys.stderr)
    if problems:
        print('%d differences: %s' % (len(problems), ' | '.join(problems[:5])))
    return bool(problems)


if __name__ == '__main__':
    sys.exit(main())
