#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What must hold of a damaged image. Knows no format.

damaged.py NAME IMAGE WHY [OPTION...]

WHY is a text that says what was done; its lines that start with one of these words are what is checked ('*' stands
for anything within a line):
    finding: OBJECT NUMBER @0xOFFSET: MESSAGE    a finding that audit must print; the image's name and type are left out
    refused: WORDS                               audit ends with status 2 and says this
    lost: N, used but free: N, claimed twice: N  blocks, exactly
    absent: PATH                                 a name that no listing and no archive may show
    present: PATH                                one that must still be there
Whatever the damage: the exit status is 1 (2 when refused), the ledger adds up to the image size, every command ends by
itself, and no name in the archive leads out of the place where it is unpacked. Prints what does not hold.
"""
import io
import os
import re
import subprocess
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'oracle'))
from assay import command, json, place  # noqa: E402

LIMIT = 60
problems = []


def run(*words):
    done = subprocess.run(command(words), stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT)
    said = done.stderr.decode('utf-8', 'backslashreplace')
    if done.returncode not in (0, 1, 2) or 'Sanitizer' in said or 'runtime error' in said:
        problems.append('%s: exit status %d: %s' % (words[0], done.returncode, said[-300:]))
    return done.returncode, done.stdout, said


def matches(pattern, lines):
    shape = re.compile('.*'.join(re.escape(p) for p in pattern.split('*')) + '$')
    return any(shape.search(line) for line in lines)


def archive(image, options, want):
    status, out, said = run('extract', *options, image)
    names = set()
    try:
        with tarfile.open(fileobj=io.BytesIO(out), mode='r|', errors='surrogateescape') as tar:
            for member in tar:
                name = os.fsencode(member.name)
                parts = name.split(b'/')
                if name.startswith(b'/') or b'..' in parts:
                    problems.append('the archive names %r' % name)
                if member.islnk() and b'..' in os.fsencode(member.linkname).split(b'/'):
                    problems.append('the archive links to %r' % member.linkname)
                names.add(name[2:].rstrip(b'/') if name.startswith(b'./') else name)
    except tarfile.TarError as e:
        problems.append('the archive cannot be read: %s' % e)
    status, out, said = run('ls', '-lRJ', *options, image)
    listed = {place(e) for e in json.loads(out)['entries']} if status in (0, 1) else set()
    for path in want['absent']:
        if path.encode() in names | listed:
            problems.append('%s is in the archive or the listing' % path)
    for path in want['present']:
        for where, what in ((names, 'archive'), (listed, 'listing')):
            if path.encode() not in where:
                problems.append('%s is not in the %s' % (path, what))


def main():
    name, image, why, options = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
    want = {k: [] for k in ('finding', 'refused', 'lost', 'used but free', 'claimed twice', 'absent', 'present')}
    with open(why, encoding='utf-8') as f:
        for line in f:
            word, _, rest = line.rstrip('\n').partition(': ')
            if word in want:
                want[word].append(rest)
    status, out, said = run('audit', *options, image)
    lines = out.decode('utf-8', 'backslashreplace').splitlines() + said.splitlines()
    if want['refused']:
        if status != 2:
            problems.append('exit status %d and not 2' % status)
        for words in want['refused']:
            if not matches('*' + words, lines):
                problems.append('it does not say: %s; it says: %s' % (words, ' | '.join(lines[-3:])))
    else:
        if status != 1:
            problems.append('exit status %d and not 1' % status)
        findings = [line.split(': ', 2)[2] for line in lines
                    if line.startswith('%s: ' % image) and line.count(': ') > 2]
        for pattern in want['finding']:
            if not matches(pattern, findings):
                problems.append('not found: %s' % pattern)
        if any(p.startswith('not found') for p in problems):
            problems.append('found: %s' % ' | '.join(findings[:8]))
        status, out, said = run('audit', '-J', *options, image)
        if status not in (0, 1):
            print('not ok %s: not analysed: %s' % (name, ' '.join(said.split())[:500]))
            return
        a = json.loads(out)['images'][0]
        total = sum(p['bytes'] for p in a['ledger'])
        if total != a['image']['size_bytes'] or total != os.path.getsize(image):
            problems.append('the ledger adds up to %d, the image has %d bytes' % (total, os.path.getsize(image)))
        for word, key in (('lost', 'lost_blocks'), ('used but free', 'used_free_blocks'),
                          ('claimed twice', 'conflict_blocks')):
            if want[word] and a['reconciliation'][key] != int(want[word][0]):
                problems.append('%s: %d blocks and not %s' % (word, a['reconciliation'][key], want[word][0]))
        run('map', *options, image)
        archive(image, options, want)
    print('%s %s%s' % ('not ok' if problems else 'ok', name, ': ' + ' ; '.join(problems)[:1500] if problems else ''))


main()
