# SPDX-License-Identifier: GPL-2.0-only
"""What the oracle tests share: running fsassay, and the names and types of manifests and of its JSON.

Knows no format. FSASSAY in the environment is the program.
"""
import base64
import json
import os
import subprocess

PURPOSES = [
    'superblock', 'geometry', 'allocation', 'journal', 'inode', 'inode-free', 'directory', 'mapping', 'xattr',
    'symlink', 'tree', 'node-free', 'checksum', 'quota', 'file-data', 'file-tail', 'file-slack', 'preallocated',
    'unreferenced', 'reserved', 'free', 'lost', 'outside',
]


def command(words):
    """The command line of fsassay with these words; FSASSAY may be several words (a wrapper)."""
    return os.environ['FSASSAY'].split() + list(words)


def fsassay(words):
    """Runs it: (exit status, standard output as bytes, standard error as text)."""
    done = subprocess.run(command(words), stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode('utf-8', 'backslashreplace')


class Failed(Exception):
    """What was expected did not come; str() says what."""


def fsassay_json(words, status=0):
    got, out, err = fsassay(words)
    if got != status:
        raise Failed('%s: exit status %d and not %d: %s'
                     % (' '.join(words), got, status, ' '.join(err.split())[:400] or out[-200:]))
    return json.loads(out)


def text(entry, key):
    """The bytes behind a string of a manifest or of our JSON."""
    if key + '_base64' in entry:
        return base64.b64decode(entry[key + '_base64'])
    return entry[key].encode()


def place(entry, key='path'):
    """A path as the key that manifests and our listings share: bytes, no slash at its ends, root is empty."""
    path = text(entry, key).strip(b'/')
    return b'' if path == b'.' else path


def load(path):
    with open(path, encoding='utf-8') as f:
        return json.load(f)


def up(value, unit):
    return -(-value // unit) * unit


def stored(entry, unit):
    """The ranges [from, to) of a manifest's file that hold bytes, in a filesystem with blocks of `unit`.

    A gap of which the manifest tells is a hole as far as it covers whole blocks; the last block, of which
    only the part up to the end of the file counts, included.
    """
    size = entry['size']
    ranges, at = [], 0
    for offset, length in sorted(entry.get('holes', []) + entry.get('unwritten', [])):
        end = min(offset + length, size)
        first = up(offset, unit)
        last = size if end == size else end // unit * unit
        if last <= first:
            continue
        if first > at:
            ranges.append((at, first))
        at = max(at, last)
    if at < size:
        ranges.append((at, size))
    return ranges


def payload(entries, unit):
    """Bytes of regular files up to their ends, holes and unwritten parts not counted, hard links once."""
    total = 0
    for e in entries:
        if e['type'] == 'file' and ('first' not in e or place(e) == place(e, 'first')):
            total += sum(end - start for start, end in stored(e, unit))
    return total
