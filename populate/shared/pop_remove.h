/* SPDX-License-Identifier: GPL-2.0-only */
/* Passes over the tree in the current directory, for their times. */
#ifndef FSA_POP_REMOVE_H
#define FSA_POP_REMOVE_H

/* Both return 0 or a negative errno. */

/* Every name with its lstat(2), as `ls -lR` does. */
int pop_list_all(void);

/* Removes everything but a lost+found at the top, as `rm -r` does. */
int pop_remove_all(void);

#endif
