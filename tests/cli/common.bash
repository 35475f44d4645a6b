# SPDX-License-Identifier: GPL-2.0-only
# For the tests in this folder: where things are, and one line of output for each check.
TOP=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
FSASSAY=${FSASSAY:-$TOP/build/fsassay}
if [ -z "${TMP:-}" ]; then
	TMP=$(mktemp -d)
	trap 'rm -rf "$TMP"' EXIT
fi
PATH=$PATH:/usr/sbin:/sbin
export LC_ALL=C.UTF-8

# check NAME WHY COMMAND...: ok when the command succeeds.
check() {
	local name=$1 why=$2
	shift 2
	if "$@"; then echo "ok $name"; else echo "not ok $name: $why"; fi
}

# same NAME EXPECTED GOT
same() {
	if [ "$2" = "$3" ]; then
		echo "ok $1"
	else
		printf 'not ok %s: expected %q, got %q\n' "$1" "$2" "$3"
	fi
}

# exits NAME STATUS COMMAND...: runs it, quiet; standard error goes to $TMP/err.
exits() {
	local name=$1 wanted=$2 status
	shift 2
	"$@" >"$TMP/out" 2>"$TMP/err"
	status=$?
	if [ $status = "$wanted" ]; then
		echo "ok $name"
	else
		echo "not ok $name: exit status $status and not $wanted: $(head -c 300 "$TMP/err" | tr '\n' ' ')"
	fi
}

# needs COMMAND...: leaves with a skip line when one is missing.
needs() {
	for tool in "$@"; do
		command -v "$tool" >/dev/null || { echo "skip $(basename "$0" .sh): no $tool"; exit 0; }
	done
}

# A tree with a bit of everything that needs no root, as an ext4 image: small_image FILE [MKE2FS OPTIONS]
small_image() {
	local image=$1 tree=$TMP/tree.$RANDOM$RANDOM
	shift
	mkdir -p "$tree/dir/sub" "$tree/empty"
	printf 'hello\n' >"$tree/hello"
	ln "$tree/hello" "$tree/dir/hard"
	ln -s ../hello "$tree/dir/link"
	seq 100000 >"$tree/dir/numbers"
	printf 'x' >"$tree"/$'bad\xffname'
	printf 'y' >"$tree"/$'line\nfeed\e[31m'
	printf 'z' >"$tree/dir/sub/-rf"
	mkfifo "$tree/fifo"
	truncate -s 3M "$tree/sparse"
	printf 'end' >>"$tree/sparse"
	truncate -s 7M "$tree/hole"
	head -c 3000000 /dev/urandom >"$tree/random"
	touch -d '1969-07-20 20:17:40.25 UTC' "$tree/hello"
	touch -d '2030-02-03 04:05:06.789012345 UTC' "$tree/dir/numbers"
	truncate -s 32M "$image"
	mke2fs -q -F -t ext4 -b 1024 -d "$tree" "$@" "$image" 2>"$TMP/mke2fs.err" || return 1
	TREE=$tree
}
