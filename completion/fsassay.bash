# SPDX-License-Identifier: GPL-2.0-only
# bash completion for fsassay. Commands and options are asked of the program itself, so that they are those
# of the version that is installed.

# Words of an option's argument; returns 1 when it is a file or cannot be completed.
_fsassay_argument()
{
	local program=$1 command=$2 option=$3 what

	case $command:$option in
	map:--purpose)
		COMPREPLY=($(compgen -W "superblock geometry allocation journal inode inode-free directory
			mapping xattr symlink tree node-free checksum quota file-data file-tail file-slack
			preallocated unreferenced reserved free lost outside" -- "$cur"))
		return ;;
	readback:--order)
		COMPREPLY=($(compgen -W "directory inode physical" -- "$cur"))
		return ;;
	populate:--fs)
		COMPREPLY=($(compgen -W "ext2 ext3 ext4 xfs btrfs reiserfs reiser4 jfs" -- "$cur"))
		return ;;
	populate:--engine)
		COMPREPLY=($(compgen -W "auto host uml lib" -- "$cur"))
		return ;;
	populate:--collection)
		COMPREPLY=($(compgen -W "size-10M size-1M size-100K size-10K size-1K size-100B mixed" -- "$cur"))
		return ;;
	esac
	# What the option's help calls its argument.
	what=$("$program" "$command" --list-options 2>/dev/null |
		awk -F'\t' -v o="$option" '$1 == o || $2 == o { print $3; exit }')
	case $what in
	*FILE* | *IMAGE* | *DIR* | *TAR* | *PATH* | *OUTPUT*)
		compopt -o filenames
		COMPREPLY=($(compgen -f -- "$cur")) ;;
	-)
		return 1 ;;
	*)
		COMPREPLY=() ;;
	esac
}

_fsassay()
{
	local IFS=$' \t\n' program=${COMP_WORDS[0]} cur=${COMP_WORDS[COMP_CWORD]} command= i
	local previous=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	program=${program/#\~/$HOME}
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
	done
	if [[ -z $command ]]; then
		COMPREPLY=($(compgen -W "$("$program" --list-commands 2>/dev/null) --help --version" -- "$cur"))
		return
	fi
	if [[ $previous == -* && $COMP_CWORD -gt $((i + 1)) ]]; then
		_fsassay_argument "$program" "$command" "$previous" && return
	fi
	if [[ $cur == -* ]]; then
		COMPREPLY=($(compgen -W "$("$program" "$command" --list-options 2>/dev/null | cut -f 1)" -- "$cur"))
		return
	fi
	compopt -o filenames 2>/dev/null
	IFS=$'\n'
	COMPREPLY=($(compgen -f -- "$cur"))
}

complete -F _fsassay fsassay
