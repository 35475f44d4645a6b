# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For the readback tests of any format; sourced after lib.sh.
readback_largest=$((1 << 30))

# same_digests NAME [OPTION...]: all orders of reading give what extract writes. PASSES="tar" in front leaves out dump.
same_digests() {
	local name=$1 image=$TMP/$1.img order pass wanted got
	shift
	for pass in ${PASSES:-tar dump}; do
		wanted=$("$FSASSAY" extract $([ $pass = dump ] && echo --dump) "$@" "$image" 2>/dev/null | xxhsum -H2 - 2>/dev/null | cut -d' ' -f1)
		for order in directory inode physical; do
			got=$("$FSASSAY" readback --$pass --order $order -n "$@" "$image" 2>/dev/null | awk '{ print $NF }')
			result "$name $pass in $order order" "$([ -n "$got" ] && [ "$got" = "$wanted" ] || echo "digest $got, that of extract is $wanted")"
		done
	done
}

# restores NAME [OPTION...]: restore lists the dump and makes the tree of the manifest of it (root only). The dump
# stays for compares.
restores() {
	local name=$1 image=$TMP/$1.img work=$TMP/$1.work out rc
	shift
	mkdir -p "$work/root"
	"$FSASSAY" extract --dump "$@" "$image" 2>"$work/said" | python3 "$TOP/tests/oracle/readback_stream.py" \
		--largest "$readback_largest" >"$work/dump" 2>"$work/stream"
	rc=("${PIPESTATUS[@]}")
	# XFS and btrfs have files of EiB, which no dump holds: the only finding that may be.
	[ "${rc[0]}" = 1 ] && ! grep ': inode [0-9]* @' "$work/said" | grep -qv 'is larger than 32 TiB' && rc[0]=0
	result "$name dump" "$([ "${rc[*]}" = "0 0" ] || cat "$work/said" "$work/stream")"
	out=$(restore -t -f "$work/dump" 2>&1 >"$work/list") || out="exit status $?: $out"
	result "$name restore -t" "$out"
	if [ "$(id -u)" != 0 ] || ! unshare -m true 2>/dev/null; then
		echo "skip $name restore -r: needs root"
		return
	fi
	out=$(unshare -m bash -c '
		mount -t tmpfs -o mode=755 tmpfs "$1/root" && cd "$1/root" || exit 1
		restore -r -f ../dump >../out 2>&1
		cd .. && python3 "$2/tests/oracle/readback_restored.py" "$3.manifest.json" root "$4" "$5" 2>/dev/null' \
		bash "$work" "$TOP" "$image" "$("$FSASSAY" audit -J "$@" "$image" 2>/dev/null |
			python3 -c 'import json, sys; print(json.load(sys.stdin)["images"][0]["filesystem"]["block_size"])')" \
		"$readback_largest") || out="${out:-not compared: $(head -c 300 "$work/out")}"
	result "$name restore -r" "$out"
}

# compares NAME TYPE: restore -C finds in that dump what the kernel shows of the mounted image; where the running kernel
# has no driver, what is unpacked from the archive, which other tests compare with what a kernel shows.
compares() {
	local name=$1 type=$2 image=$TMP/$1.img work=$TMP/$1.work out fill
	[ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || { echo "skip $name restore -C: needs root"; return; }
	if can_mount "$type"; then
		fill='mount -o loop,ro -t "$2" "$3" "$1/root"'
	else
		fill='mount -t tmpfs -o mode=755 tmpfs "$1/root"; $FSASSAY extract "$3" 2>/dev/null |
			tar -x -p --xattrs --xattrs-include=* --acls --numeric-owner -C "$1/root" 2>/dev/null'
	fi
	# restore takes a name of 255 bytes for an empty one and knows 12 bits of a major number; both are its own.
	out=$(FSASSAY=$FSASSAY unshare -m bash -f -c "$fill"'
		mountpoint -q "$1/root" && [ -n "$(ls "$1/root")" ] && cd "$1/root" || { echo "compare error: no tree"; exit; }
		restore -C -D "$1/root" -f "$1/dump" 2>&1 | grep -a -e changed -e differ -e "no longer" -e EA -e "compare error"' \
		bash "$work" "$type" "$image" | grep -a -v -e '/nodes/.*largest' -e '^[^:]*/:' -e 'compare errors' | head -n 5)
	result "$name restore -C" "$out"
	rm -rf "$work"
}
