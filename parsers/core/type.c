/* SPDX-License-Identifier: GPL-2.0-only */
#include <sys/stat.h>

#include "fsa/parser.h"

enum fsa_type fsa_type_of_mode(uint32_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG: return FSA_TYPE_REGULAR;
	case S_IFDIR: return FSA_TYPE_DIRECTORY;
	case S_IFLNK: return FSA_TYPE_SYMLINK;
	case S_IFCHR: return FSA_TYPE_CHARDEV;
	case S_IFBLK: return FSA_TYPE_BLOCKDEV;
	case S_IFIFO: return FSA_TYPE_FIFO;
	case S_IFSOCK: return FSA_TYPE_SOCKET;
	default: return FSA_TYPE_UNKNOWN;
	}
}
