#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# --help, --list-options, the man page and the completion say the same.
set -u
TOP=${TOP:-$(cd "$(dirname "$0")/../.." && pwd)}
FSASSAY=${FSASSAY:-$TOP/build/fsassay}
man=$TOP/man/fsassay.1

# Options in --help as "name letter argument", one a line.
help_options() {
	"$FSASSAY" "$1" --help | awk '
		/^Options:/ { in_options = 1; next }
		in_options && /^$/ { exit }
		in_options {
			letter = "-"; name = ""; argument = "-"
			line = $0
			if (match(line, /^ -[A-Za-z], /)) letter = substr(line, 3, 1)
			if (!match(line, /--[a-z][a-z-]*/)) next
			name = substr(line, RSTART + 2, RLENGTH - 2)
			rest = substr(line, RSTART + RLENGTH)
			if (match(rest, /^ [A-Z][A-Z.-]*( |$)/)) { argument = substr(rest, 2, RLENGTH - 1); gsub(/ /, "", argument) }
			print name, letter, argument
		}' | sort
}

# The same from --list-options, which completion uses.
listed_options() {
	"$FSASSAY" "$1" --list-options | awk -F'\t' '{ sub(/^--/, "", $1); l = $2; if (l != "-") sub(/^-/, "", l); print $1, l, $3 }' | sort
}

# The same from a section of the man page: "\fB\-x\fR, \fB\-\-name\fR \fIARG\fR" behind a .TP. A line may name several.
man_options() {
	awk -v section="$1" '
		/^\.SH / { inside = substr($0, 5) == section }
		inside && previous == ".TP" && /\\-/ {
			line = $0; gsub(/\\-/, "-", line); letter = "-"
			if (match(line, /\\fB-[A-Za-z]\\fR/)) letter = substr(line, RSTART + 4, 1)
			argument = "-"
			if (match(line, /\\fI[A-Z-]*\\fR/)) argument = substr(line, RSTART + 3, RLENGTH - 6)
			while (match(line, /\\fB--[a-z-]*\\fR/)) {
				print substr(line, RSTART + 5, RLENGTH - 8), letter, argument
				line = substr(line, RSTART + RLENGTH)
			}
		}
		{ previous = $0 }' "$man" | sort
}

compare() {	# NAME WHAT A B
	if [ "$3" = "$4" ]; then
		echo "ok $1"
	else
		echo "not ok $1: $2: $(diff <(echo "$3") <(echo "$4") | grep '^[<>]' | tr '\n' ';')"
	fi
}

opening=$(man_options "OPTIONS FOR OPENING AN IMAGE")
general=$(man_options "GENERAL OPTIONS")
commands=$("$FSASSAY" --list-commands)
[ -n "$commands" ] && echo "ok commands-listed" || echo "not ok commands-listed: --list-commands prints nothing"
compare commands-in-help "commands in --help and --list-commands" \
	"$("$FSASSAY" --help | awk '/^Commands:/ { c = 1; next } c && /^$/ { exit } c { print $1 }' | sort)" "$(sort <<<"$commands")"

for command in $commands; do
	help=$(help_options "$command")
	compare "$command-help-list" "--help (<) and --list-options (>)" "$help" "$(listed_options "$command")"
	section=$(tr a-z A-Z <<<"$command")
	if ! grep -q "^\.SH $section\$" "$man"; then
		echo "not ok $command-man: the man page has no section $section"
		continue
	fi
	# The common ones have sections of their own in the man page.
	own=$(grep -vxF -e "$general" <<<"$help")
	if grep -q '^offset ' <<<"$own"; then
		compare "$command-opening" "options for opening: man page (<), --help (>)" \
			"$(awk '{ print $1 }' <<<"$opening")" \
			"$(grep -xF -e "$opening" <<<"$own" | awk '{ print $1 }')"
		own=$(grep -vxF -e "$opening" <<<"$own")
	fi
	compare "$command-man" "--help (<) and man page (>)" "$own" "$(man_options "$section")"
done

# What the completion offers is what the program lists.
complete_words() {
	FSASSAY=$FSASSAY bash -c '
		. "$1"; shift
		COMP_WORDS=("$FSASSAY" "$@"); COMP_CWORD=$#
		_fsassay 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' _ "$TOP/completion/fsassay.bash" "$@" | sort
}
compare completion-commands "completion (<), program (>)" "$(complete_words '')" \
	"$(printf '%s\n' $commands --help --version | sort)"
for command in $commands; do
	compare "completion-$command" "completion (<), program (>)" "$(complete_words "$command" --)" \
		"$("$FSASSAY" "$command" --list-options | cut -f 1 | sort)"
done
if grep -qx map <<<"$commands"; then
	purposes=$(awk '/^\.SH / { p = $0 == ".SH PURPOSES" } p && previous == ".TP" { sub(/^\.B /, ""); gsub(/\\-/, "-"); print } { previous = $0 }' "$man" | sort)
	compare completion-purposes "completion (<), man page (>)" "$(complete_words map --purpose '')" "$purposes"
fi

if command -v man >/dev/null; then
	warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' MANWIDTH=100 man --warnings -E UTF-8 -l -Tutf8 -Z "$man" 2>&1 >/dev/null)
	[ -z "$warnings" ] && echo "ok man-page-formats" || echo "not ok man-page-formats: $warnings"
else
	echo "skip man-page-formats: no man"
fi
