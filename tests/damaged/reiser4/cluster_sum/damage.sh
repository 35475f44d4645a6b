# SPDX-License-Identifier: GPL-2.0-only
# base: packed
"$FSASSAY" stat -J --quick "$IMAGE" /frag/comb | python3 -c "
import json, sys
at = next(e['physical'] for e in json.load(sys.stdin)['objects'][0]['extents'] if 'encoding' in e)
with open('$IMAGE', 'r+b') as f:
    f.seek(at + 9)
    byte = f.read(1)[0]
    f.seek(at + 9)
    f.write(bytes([byte ^ 1]))"
