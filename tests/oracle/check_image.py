#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""An image that `fsassay populate` made, against its manifest and what the kernel said of it. Knows no format.

check_image.py [--name NAME] [--manifest FILE] [--only CHECK,...] [--tar FILE] IMAGE [-- OPTION...]

Prints one line "ok NAME CHECK" or "not ok NAME CHECK: why" for each check; OPTIONs go to every fsassay command
(--journal-device FILE). No figure has a tolerance. Checks:

audit    exit status 0 and no finding; every byte of the image has one purpose, nothing is lost, claimed twice or
         used but free; the free counter agrees; df, du and the sizes are reconciled to the byte
df       df and df -i, read-write and read-only, as statfs(2) and as GNU df printed them (skipped, with a line
         that says so, when no kernel made the image)
ls       inode, size, links, st_blocks of every path as the kernel's stat(2); type, mode, owner, time as made
payload  bytes of files without holes, by the manifest
figures  numbers of files, directories, symbolic links, others
map      the runs tile the image and add up to the ledger of the audit, detail by detail
extract  the archive, unpacked by GNU tar, is the tree of the manifest (root only)
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import assay
from assay import Failed, fsassay, fsassay_json, place
from unpacked import Tree

# What formats put into a new root by themselves.
BUILT_IN = (b'lost+found',)


def differ(what, have, want):
    if have != want:
        raise Failed('%s: %r and not %r' % (what, have, want))


class Check:
    def __init__(self, image, manifest, options):
        self.image, self.manifest, self.options = image, manifest, options
        self.entries = [e for e in manifest['entries']]
        self.kernel = manifest.get('kernel')
        self._audit = None

    def words(self, command, *more):
        return [command, *more, *self.options, self.image]

    @property
    def audited(self):
        if self._audit is None:
            status, out, err = fsassay(self.words('audit', '-J'))
            try:
                self._audit = assay.json.loads(out)['images'][0]
            except ValueError:
                raise Failed('exit status %d: %s' % (status, ' '.join(err.split())[:400]))
            self._status = status
        return self._audit

    def audit(self):
        a = self.audited
        if a['findings']:
            first = ['%s %s @%s: %s' % (f['object'], f['number'], f['offset'], f['message']) for f in a['findings'][:4]]
            raise Failed('%d findings: %s' % (len(a['findings']) + a['findings_not_kept'], ' | '.join(first)))
        differ('exit status', self._status, 0)
        differ('complete', a['complete'], True)
        differ('purposes', [p['purpose'] for p in a['ledger']], assay.PURPOSES)
        differ('sum of the ledger', sum(p['bytes'] for p in a['ledger']), a['image']['size_bytes'])
        if '--journal-device' not in self.options and '--log-device' not in self.options:
            images = [self.image] + [f for o, f in zip(self.options, self.options[1:]) if o == '--device']
            differ('image size', a['image']['size_bytes'], sum(os.path.getsize(i) for i in images))
        for p in a['ledger']:
            if p['details'] and p['purpose'] != 'free':
                differ('details of ' + p['purpose'], sum(d['bytes'] for d in p['details']), p['bytes'])
        r = a['reconciliation']
        for k in ('lost_blocks', 'used_free_blocks', 'conflict_blocks', 'missing_bytes'):
            differ(k, r[k], 0)
        differ('claimed blocks', r['claimed_blocks'], r['allocated_blocks'])
        differ('consistent', r['consistent'], True)
        if r['counter_free_blocks'] is not None and not r['counter_lazy']:
            differ('free counter', r['counter_free_blocks'], r['map_free_blocks'])
        differ('bytes unexplained between df, du and sizes', a['bridge']['unexplained_bytes'], 0)

    def df(self):
        a, k = self.audited, self.kernel
        for ours, theirs, gnu in (('df', 'df', 'gnu_df'), ('df_ro', 'df_ro', 'gnu_df_ro')):
            if theirs not in k:
                continue
            s = k[theirs]
            unit = s['f_frsize']
            # GNU df rounds up what is no whole KiB.
            want = {'size_kib': assay.up(s['f_blocks'] * unit, 1024) // 1024, 'available_kib': assay.up(s['f_bavail'] * unit, 1024) // 1024,
                    'used_kib': assay.up((s['f_blocks'] - s['f_bfree']) * unit, 1024) // 1024}
            differ(ours, {n: a[ours][n] for n in want}, want)
            if gnu in k and 'k' in k[gnu]:
                have = a[ours]
                line = '%d %d %d %s' % (have['size_kib'], have['used_kib'], have['available_kib'],
                                        '-' if have['use_percent'] is None else '%d%%' % have['use_percent'])
                differ(ours + ' as GNU df prints it', line.split(), k[gnu]['k'].split()[1:5])
        s = k['df']
        want = {'total': s['f_files'], 'available': s['f_ffree'], 'used': s['f_files'] - s['f_ffree']}
        differ('df -i', {n: a['df_inodes'][n] for n in want}, want)

    def listing(self):
        rows = fsassay_json(['ls', '-lRJ', *self.options, self.image])['entries']
        rows += fsassay_json(['ls', '-ldJ', *self.options, self.image, '/'])['entries']
        listing = {place(r): r for r in rows}
        differ('names that come twice', len(rows) - len(listing), 0)
        return listing

    def ls(self):
        listing = self.listing()
        wrong = []
        for e in self.entries:
            r = listing.get(place(e))
            if r is None:
                wrong.append('%r: not listed' % place(e))
                continue
            have = [{'chardev': 'char', 'blockdev': 'block'}.get(r['type'], r['type']), r['mode'], r['uid'], r['gid']]
            want = [e['type'], e['mode'], e['uid'], e['gid']]
            if 'mtime' in e:    # not every filler keeps it (mkfs.xfs -p)
                have += [r['mtime_sec'], r['mtime_nsec']]
                want += [e['mtime']['sec'], e['mtime']['nsec']]
            if have != want:
                wrong.append('%r: %r and not %r' % (place(e), have, want))
        for s in (self.kernel or {}).get('st', []):
            r = listing.get(place(s))
            if r is None:
                wrong.append('%r: not listed' % place(s))
                continue
            have = [r['inode'], r['st_blocks'], r['size'], r['links']]
            want = [s['ino'], s['blocks'], s['size'], s['nlink']]
            if have != want:
                wrong.append('%r: inode, st_blocks, size, links %r and not %r' % (place(s), have, want))
        wrong += ['%r: not in the manifest' % n for n in set(listing) - {place(e) for e in self.entries}
                  if n not in BUILT_IN]
        if wrong:
            raise Failed('%d differences: %s' % (len(wrong), ' | '.join(wrong[:4])))

    def payload(self):
        a = self.audited
        differ('payload_bytes', a['figures']['payload_bytes'],
               assay.payload(self.entries, a['filesystem']['block_size']))

    def figures(self):
        own = [e for e in self.entries if 'first' not in e or place(e) == place(e, 'first')]
        kinds = [e['type'] for e in own]
        built_in = sum(n in self.listing() for n in BUILT_IN)
        want = {
            'files': kinds.count('file'), 'directories': kinds.count('directory') + built_in,
            'symlinks': kinds.count('symlink'), 'unreferenced': 0,
            'others': sum(kinds.count(k) for k in ('fifo', 'socket', 'char', 'block')),
        }
        have = self.audited['figures']
        differ('figures', {n: have[n] for n in want}, want)

    def map(self):
        runs = fsassay_json(self.words('map', '-J'))['runs']
        ends, sums = {}, {}
        for r in runs:
            device = r['device']
            if r['offset'] != ends.get(device, 0):
                raise Failed('device %d: a run starts at %d, the one before ends at %d'
                             % (device, r['offset'], ends.get(device, 0)))
            if r['length'] <= 0:
                raise Failed('device %d: a run of %d bytes at %d' % (device, r['length'], r['offset']))
            ends[device] = r['offset'] + r['length']
            key = (r['purpose'], r.get('detail') if r['purpose'] not in ('free', 'lost', 'outside') else None)
            sums[key] = sums.get(key, 0) + r['length']
        a = self.audited
        differ('end of the map', sum(ends.values()), a['image']['size_bytes'])
        want = {}
        for p in a['ledger']:
            if p['purpose'] in ('free', 'lost', 'outside'):
                want[p['purpose'], None] = p['bytes']
            else:
                for d in p['details']:
                    key = (p['purpose'], d['name'])
                    want[key] = want.get(key, 0) + d['bytes']
        want = {k: v for k, v in want.items() if v}
        for key in sorted(set(want) | set(sums), key=str):
            differ('map of %s, %s' % key, sums.get(key, 0), want.get(key, 0))

    def extract(self, tar=None):
        work = tempfile.mkdtemp()
        try:
            with scratch_filesystem(work) as root:
                self.unpack(root, tar)
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def unpack(self, root, tar):
        if tar:
            source = subprocess.Popen(['cat', tar], stdout=subprocess.PIPE)
        else:
            source = subprocess.Popen(assay.command(self.words('extract')), stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
        # Files that no place here can hold are not tar's to fail on; the comparison tries them itself.
        out = subprocess.run(['tar', '-x', '--xattrs', '--xattrs-include=*', '--acls', '--numeric-owner', '-p',
                              '-C', root], stdin=source.stdout, capture_output=True)
        source.stdout.close()
        said = source.stderr.read().decode('utf-8', 'replace') if source.stderr else ''
        differ('exit status of extract (%s)' % ' '.join(said.split())[:300], source.wait(), 0)
        tree = Tree(root, self.audited['filesystem']['block_size'])
        problems = tree.compare(self.entries, BUILT_IN)
        if problems:
            raise Failed('%d differences: %s' % (len(problems), ' | '.join(problems[:4])))
        complaints = [line for line in out.stderr.decode('utf-8', 'replace').splitlines()
                      if 'time stamp' not in line and 'hdrcharset' not in line]
        if out.returncode and not tree.left_out:
            raise Failed('tar: exit status %d: %s' % (out.returncode, ' | '.join(complaints[:3])))
        sockets = sum(e['type'] == 'socket' for e in self.entries)
        if sockets and 'sockets are not in the archive' not in said and not tar:
            raise Failed('%d sockets are left out without a word' % sockets)


class scratch_filesystem:
    """A place to unpack to: a tmpfs of our own, which has the fewest limits (long targets, far times, huge holes,
    large attributes), else the folder as it is."""

    def __init__(self, folder):
        self.folder, self.mounted = folder, None

    def __enter__(self):
        root = os.path.join(self.folder, 'root')
        os.mkdir(root)
        if os.environ.get('FSA_PRIVATE_MOUNTS') and \
                subprocess.run(['mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', root], capture_output=True).returncode == 0:
            self.mounted = root
        return root

    def __exit__(self, *_):
        if self.mounted:
            subprocess.run(['umount', self.mounted], capture_output=True)


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument('--name')
    words.add_argument('--manifest')
    words.add_argument('--only')
    words.add_argument('--tar')
    words.add_argument('image')
    arguments, options = sys.argv[1:], []
    if '--' in arguments:
        options = arguments[arguments.index('--') + 1:]
        arguments = arguments[:arguments.index('--')]
    args = words.parse_args(arguments)
    name = args.name or os.path.basename(args.image)
    check = Check(args.image, assay.load(args.manifest or args.image + '.manifest.json'), options)
    failed = 0
    for one in (args.only or 'audit,df,ls,payload,figures,map,extract').split(','):
        if one == 'df' and not check.kernel:
            print('ok %s %s: no kernel made this image, so there is none to compare with' % (name, one))
            continue
        if one == 'extract' and os.geteuid() != 0:
            print('skip %s %s: unpacking owners and devices needs root' % (name, one))
            continue
        try:
            if one == 'extract':
                check.extract(args.tar)
            else:
                getattr(check, one)()
            print('ok %s %s' % (name, one))
        except (Failed, OSError, KeyError, ValueError) as e:
            failed = 1
            print('not ok %s %s: %s' % (name, one, ' '.join(('%s %s' % (type(e).__name__ if not
                  isinstance(e, Failed) else '', e)).split())))
        sys.stdout.flush()
    return failed


if __name__ == '__main__':
    # Mounts of ours are seen by nobody else, and end with us.
    if os.geteuid() == 0 and 'FSA_PRIVATE_MOUNTS' not in os.environ and \
            subprocess.run(['unshare', '-m', 'true'], capture_output=True).returncode == 0:
        os.environ['FSA_PRIVATE_MOUNTS'] = '1'
        os.execvp('unshare', ['unshare', '-m', sys.executable] + sys.argv)
    sys.exit(main())
