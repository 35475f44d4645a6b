/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest program's bytes: from the first label to the second. */
#ifndef FSA_POP_GUEST_BLOB_H
#define FSA_POP_GUEST_BLOB_H

extern const unsigned char pop_guest_blob[];
extern const unsigned char pop_guest_blob_end[];

#endif
