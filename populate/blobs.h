/* SPDX-License-Identifier: GPL-2.0-only */
/* Files carried inside the program: from the first label to the second. */
#ifndef FSA_POP_BLOBS_H
#define FSA_POP_BLOBS_H

/* The guest program of user-mode Linux. */
extern const unsigned char pop_guest_blob[];
extern const unsigned char pop_guest_blob_end[];

/* What is loaded into user-mode Linux itself: preload/uml_ptrace.c. */
extern const unsigned char pop_preload_blob[];
extern const unsigned char pop_preload_blob_end[];

#endif
