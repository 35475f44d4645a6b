#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""All public images of a format under the instrumented program, beside what its own checker says. Knows no format.

corpus.py FOLDER [--complaint REGEX] [--pending REGEX --allow REGEX] [--known FILE] -- CHECKER...    (IMAGE in CHECKER stands for the image)

FOLDER holds *.img.xz. For each, two at a time:
- no crash, no hang (30 s a command), no word of a sanitizer, from audit, map, ls and extract; exit status 0 to 2;
- what can be analysed has a closed ledger, and status 1 exactly when it has findings; else there is a reason;
- what CHECKER passes (exit status 0 and, for checkers that ask and answer "no" themselves, nothing that matches
  --complaint) has no finding and no lost block. When CHECKER's output matches --pending
  (a journal that it did not replay), findings that match --allow may be there.
--known FILE lists findings that the checker of today does not make though it should, one a line as "NAME: part of the
finding" behind a comment that says how that is known: each must be made, and is no failure then.
With CORPUS_REPORT=FILE in the environment it also writes there which images CHECKER rejects and fsassay does not.
"""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from assay import command

LIMIT = 30


def limited(words, **more):
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=LIMIT, **more)


def unpack(packed, image):
    """Sparse, so that large empty images cost nothing."""
    source = subprocess.Popen(['xz', '-dc', packed], stdout=subprocess.PIPE)
    subprocess.run(['dd', 'of=' + image, 'bs=64K', 'iflag=fullblock', 'conv=sparse', 'status=none'],
                   stdin=source.stdout, check=True)
    size = 0
    source.stdout.close()
    if source.wait() != 0:
        raise OSError('xz: exit status %d' % source.returncode)
    with open(image, 'r+b') as f:
        size = f.seek(0, 2)
    return size


def finding(f):
    return '%s %s @%s: %s' % (f['object'], f['number'], f['offset'], f['message'])


class Image:
    def __init__(self, packed, options, checker):
        self.name = os.path.basename(packed)[:-len('.img.xz')]
        self.packed, self.options, self.checker = packed, options, checker
        self.why = []
        self.note = None

    def ours(self, *words):
        try:
            done = limited(command(words))
        except subprocess.TimeoutExpired:
            self.why.append('%s: not done after %d s' % (words[0], LIMIT))
            return None, b'', ''
        said = done.stderr.decode('utf-8', 'backslashreplace')
        found = re.search(r'(runtime error: [^\n]*|(?:Address|Leak|UndefinedBehavior)Sanitizer[^\n]*)', said)
        if found or done.returncode not in (0, 1, 2):
            frames = ' '.join(re.findall(r' in (\w+) \S*?(\w+\.c:\d+)', said)[0]) if ' in ' in said and \
                re.findall(r' in (\w+) \S*?(\w+\.c:\d+)', said) else ''
            self.why.append('%s: exit status %d: %s %s' % (words[0], done.returncode,
                                                           found.group(1) if found else said[-200:], frames))
        return done.returncode, done.stdout, said

    def check(self, image):
        with open(image, 'rb') as f:
            size = f.seek(0, 2)
        status, out, said = self.ours('audit', '-J', image)
        a = None
        if status in (0, 1):
            a = json.loads(out)['images'][0]
            total = sum(p['bytes'] for p in a['ledger'])
            if total != size:
                self.why.append('the ledger adds up to %d, the image has %d bytes' % (total, size))
            if (status == 1) != bool(a['findings']):
                self.why.append('exit status %d with %d findings' % (status, len(a['findings'])))
        elif status == 2 and not said.strip():
            self.why.append('refused without a word')
        if status in (0, 1):
            self.ours('map', image)
            self.ours('ls', '-lR', image)
            self.ours('extract', '-f', '/dev/null', image)
        try:
            checked = limited([image if w == 'IMAGE' else w for w in self.checker])
        except subprocess.TimeoutExpired:
            return
        words = (checked.stdout + checked.stderr).decode('utf-8', 'replace')
        if checked.returncode != 0 or (self.options.get('complaint') and re.search(self.options['complaint'], words)):
            if status == 0:
                self.note = 'the checker says (status %d): %s' % (checked.returncode, ' | '.join(words.splitlines()[1:5]))
            return
        pending = self.options.get('pending') and re.search(self.options['pending'], words)
        if a is None:
            if status == 2:
                self.why.append('passes the checker, but: ' + ' '.join(said.split())[:300])
            return
        for part in self.options.get('knows', {}).get(self.name, []):
            if not any(part in finding(f) for f in a['findings']):
                self.why.append('not found though known: %s' % part)
            a['findings'] = [f for f in a['findings'] if part not in finding(f)]
        wrong = [f for f in a['findings'] if not (pending and re.search(self.options['allow'], finding(f)))]
        if wrong:
            self.why.append('passes the checker, %d findings: %s' % (len(wrong), ' | '.join(map(finding, wrong[:3]))))
        if a['reconciliation']['lost_blocks']:
            self.why.append('passes the checker, %d blocks are lost' % a['reconciliation']['lost_blocks'])

    def run(self):
        handle, image = tempfile.mkstemp(suffix='.img')
        os.close(handle)
        try:
            unpack(self.packed, image)
            self.check(image)
        except (OSError, ValueError, subprocess.SubprocessError) as e:
            self.why.append('%s: %s' % (type(e).__name__, e))
        finally:
            os.unlink(image)
        return self


def main():
    words, checker = sys.argv[1:sys.argv.index('--')], sys.argv[sys.argv.index('--') + 1:]
    options = dict(zip((w[2:] for w in words[1::2]), words[2::2]))
    if 'known' in options:
        options['knows'] = {}
        with open(options['known'], encoding='utf-8') as f:
            for line in f:
                name, _, part = line.strip().partition(': ')
                if part and not line.startswith('#'):
                    options['knows'].setdefault(name, []).append(part)
    images = [Image(p, options, checker) for p in sorted(glob.glob(os.path.join(words[0], '*.img.xz')))]
    if not images:
        print('not ok corpus: no image in %s' % os.path.basename(words[0]))
        return
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for image in pool.map(Image.run, images):
            if image.why:
                print('not ok %s: %s' % (image.name, ' ; '.join(' '.join(w.split()) for w in image.why)))
            else:
                print('ok %s' % image.name)
            sys.stdout.flush()
    if 'CORPUS_REPORT' in os.environ:
        with open(os.environ['CORPUS_REPORT'], 'w', encoding='utf-8') as f:
            f.writelines('%s: %s\n' % (i.name, i.note) for i in images if i.note)


main()
