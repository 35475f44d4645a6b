# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# For shell tests of any format: source it as
#     . "$(dirname "$0")/../oracle/lib.sh"
# It needs nothing but what tests/run gives (FSASSAY, TOP, TMP) and makes up for it when a script is run by hand.
# Result lines are for tests/run: "ok NAME", "not ok NAME: why", "skip NAME: why".
set -u
PATH=$PATH:/usr/sbin:/sbin
TOP=${TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
FSASSAY=${FSASSAY:-$TOP/build/fsassay}
if [ -z "${TMP:-}" ]; then
	TMP=$(mktemp -d)
	trap 'rm -rf "$TMP"' EXIT
fi
export PATH TOP FSASSAY TMP TMPDIR=$TMP
test_name=$(basename "$0" .sh)

# result NAME WHY: one line; ok when WHY is empty.
result() {
	if [ -z "$2" ]; then
		echo "ok $1"
	else
		echo "not ok $1: $(printf %s "$2" | tr '\n' ' ' | cut -c 1-1500)"
	fi
}

# need TOOL...: ends the script as skipped when one is missing.
need() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null || { echo "skip $test_name: $tool is not installed"; exit 0; }
	done
}

# can_mount TYPE: true when the running kernel mounts it for us by loop.
can_mount() {
	[ "$(id -u)" = 0 ] && [ -e /dev/loop-control ] && unshare -m true 2>/dev/null || return 1
	grep -qw "$1" /proc/filesystems || modprobe "$1" 2>/dev/null
	grep -qw "$1" /proc/filesystems
}

# make_image NAME OPTION...: $TMP/NAME.img and its manifest by `fsassay populate`, filled by a kernel: the
# running one where it can, else user-mode Linux. ENGINE=host|uml|lib in front overrules. Says "not ok" or "skip"
# and returns false when it cannot.
make_image() {
	local name=$1 engine=${ENGINE:-auto} out
	shift
	if ! out=$("$FSASSAY" populate --force --engine "$engine" "$@" "$TMP/$name.img" 2>&1); then
		result "$name populate" "$(printf %s "$out" | tail -n 4)"
		return 1
	fi
	if [ "$engine" != lib ] && grep -q '^ *"engine": *"lib"' "$TMP/$name.img.manifest.json"; then
		echo "skip $name: no kernel to fill it with, neither by loop mount as root nor user-mode Linux"
		return 1
	fi
}

# check_image NAME [OPTION...]: $TMP/NAME.img against its manifest, see check_image.py. CHECKS=audit,df,... in front
# picks some; OPTIONs go to every fsassay command.
check_image() {
	local name=$1
	shift
	python3 "$TOP/tests/oracle/check_image.py" --name "$name" ${CHECKS:+--only "$CHECKS"} "$TMP/$name.img" -- "$@"
}

# drop_image NAME: frees the space.
drop_image() {
	rm -f "$TMP/$1.img" "$TMP/$1.img.manifest.json"
}

# instrumented: points FSASSAY at a program built with the address and undefined-behaviour sanitizers, building it
# when need be (one at a time). Says so and returns false when it cannot be built.
instrumented() {
	local log=$TMP/instrumented.log
	mkdir -p "$TOP/build-asan-ubsan"
	# A copy, because another may build there while we use it.
	if ! (flock 9 && make -C "$TOP" D=asan,ubsan CC="${CC:-cc}" all && cp "$TOP/build-asan-ubsan/fsassay" "$TMP/fsassay-instrumented") \
		9>"$TOP/build-asan-ubsan/lock" >"$log" 2>&1; then
		tail -n 20 "$log"
		echo "not ok $test_name: the instrumented build fails"
		return 1
	fi
	FSASSAY=$TMP/fsassay-instrumented
	export FSASSAY ASAN_OPTIONS=detect_leaks=1:abort_on_error=0 UBSAN_OPTIONS=print_stacktrace=1
}
