# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the golden outputs are: shipped samples x commands. golden OUT runs them all and writes OUT/SAMPLE/NAME.
# Nothing is normalised: the commands run beside the unpacked image, so that no path differs, and print no time of now.

# one OUT NAME WORD...: standard output, with errors and an exit status that is not 0 at its end.
one() {
	local out=$1 name=$2 status
	shift 2
	"$@" >"$out/$name" 2>"$out/$name.err"
	status=$?
	sed 's/^/stderr: /' "$out/$name.err" >>"$out/$name"
	rm -f "$out/$name.err"
	[ $status -eq 0 ] || echo "exit status $status" >>"$out/$name"
}

# Byte for byte what tar can show of the archive.
listing() {
	"$FSASSAY" extract "$1" | tar -tv --full-time --numeric-owner --quoting-style=escape -f - 2>&1 |
		grep -v -e 'in the future' -e 'implausibly old' -e 'hdrcharset'
}

golden() {
	local to=$1 packed name list paths
	local -a images=()
	for packed in "$TOP"/samples/*.img.xz; do
		name=$(basename "$packed" .img.xz)
		xz -dc "$packed" >"$name.img" || return 1
		images+=("$name.img")
		mkdir -p "$to/$name"
		one "$to/$name" audit "$FSASSAY" audit "$name.img"
		one "$to/$name" audit-v "$FSASSAY" audit -v "$name.img"
		one "$to/$name" audit-b "$FSASSAY" audit -b "$name.img"
		one "$to/$name" audit.json "$FSASSAY" audit -J "$name.img"
		one "$to/$name" ls-lR "$FSASSAY" ls -lR --full-time "$name.img"
		# Samples that hold another tree have paths of their own.
		list=$TOP/tests/golden/paths.${name%%-*}
		[ -f "$list" ] || list=$TOP/tests/golden/paths
		mapfile -t paths <"$list"
		one "$to/$name" stat "$FSASSAY" stat "$name.img" "${paths[@]}"
		one "$to/$name" stat.json "$FSASSAY" stat -J "$name.img" "${paths[@]}"
		one "$to/$name" map "$FSASSAY" map "$name.img"
		one "$to/$name" map-at "$FSASSAY" map --at 0x20000 "$name.img"
		one "$to/$name" mapfile "$FSASSAY" map --mapfile /dev/stdout "$name.img"
		one "$to/$name" extract listing "$name.img"
	done
	mkdir -p "$to/all"
	one "$to/all" compare "$FSASSAY" compare "${images[@]}"
	one "$to/all" compare.json "$FSASSAY" compare -J "${images[@]}"
	rm -f "${images[@]}"
}
