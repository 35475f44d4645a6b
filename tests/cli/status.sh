#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Exit statuses, full outputs, no colours where none belong.
set -u
. "$(dirname "$0")/common.bash"
needs mke2fs
img=$TMP/a.img
small_image "$img" || { echo "not ok make-image: $(cat "$TMP/mke2fs.err")"; exit 1; }

exits no-command 3 "$FSASSAY"
exits unknown-command 3 "$FSASSAY" frobnicate "$img"
exits unknown-first-option 3 "$FSASSAY" --frobnicate
for command in $("$FSASSAY" --list-commands); do
	exits "$command-help" 0 "$FSASSAY" "$command" --help
	exits "$command-unknown-option" 3 "$FSASSAY" "$command" --frobnicate "$img"
	check "$command-says-help" "no pointer to --help" grep -q -- "--help" "$TMP/err"
	exits "$command-no-operand" 3 "$FSASSAY" "$command"
	check "$command-help-full" "help into a full device exits 0" \
		bash -c "! '$FSASSAY' $command --help >/dev/full 2>/dev/null"
done

# command [operands behind the image]: what analyses an image behaves the same everywhere.
each() {
	local name=$1
	shift
	exits "$name-missing-file" 2 "$FSASSAY" "$name" "$TMP/nothing-here" "$@"
	exits "$name-not-an-image" 2 "$FSASSAY" "$name" /etc/passwd "$@"
	exits "$name-healthy" 0 "$FSASSAY" "$name" "$img" "$@"
	"$FSASSAY" "$name" "$img" "$@" >/dev/full 2>"$TMP/err"
	same "$name-full-device" 2 $?
	check "$name-full-device-said" "nothing about it on stderr" grep -qi "no space" "$TMP/err"
	NO_COLOR=1 TERM=xterm "$FSASSAY" "$name" "$img" "$@" 2>&1 | grep -aq $'\e\\[' && [ "$name" != extract ] &&
		echo "not ok $name-piped: escape codes in a pipe" || echo "ok $name-piped"
}
each audit
each ls
each stat /hello
each cat /hello
each map
each extract
exits ls-json 0 "$FSASSAY" ls -lJ "$img"
exits ls-missing-path 2 "$FSASSAY" ls "$img" /nothing
exits stat-missing-path 2 "$FSASSAY" stat "$img" /nothing
exits cat-directory 2 "$FSASSAY" cat "$img" /dir
exits cat-through-link 2 "$FSASSAY" cat "$img" /dir/link/x
exits map-two-images 3 "$FSASSAY" map "$img" "$img"
exits map-unknown-purpose 3 "$FSASSAY" map --purpose frobnicate "$img"
exits map-at-behind-end 2 "$FSASSAY" map --at 1T "$img"
exits map-at-no-number 3 "$FSASSAY" map --at here "$img"
exits cat-no-length 3 "$FSASSAY" cat --length -5 "$img" /hello
exits extract-missing-path 2 "$FSASSAY" extract "$img" /nothing
same extract-missing-path-writes-nothing 0 "$(stat -c %s "$TMP/out")"

# With a terminal on stdout but NO_COLOR set there are no escapes either; a terminal is no place for a tar.
if command -v script >/dev/null; then
	for command in audit map ls; do
		NO_COLOR=1 TERM=xterm script -qec "'$FSASSAY' $command '$img' 2>/dev/null" /dev/null </dev/null >"$TMP/tty"
		check "$command-no-color" "escape codes in spite of NO_COLOR" bash -c "! grep -aq \$'\\e\\\\[' '$TMP/tty'"
	done
	script -qec "'$FSASSAY' extract '$img'; echo status \$?" /dev/null </dev/null >"$TMP/tty"
	check extract-terminal "wrote to a terminal" grep -aq "status 3" "$TMP/tty"
else
	echo "skip no-color: no script"
fi
