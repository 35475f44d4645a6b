/* SPDX-License-Identifier: GPL-2.0-only */
/* The guest program, carried inside this one; see guest_blob.h. */
	.section .rodata
	.global pop_guest_blob
	.global pop_guest_blob_end
	.balign 16
pop_guest_blob:
	.incbin GUEST_BLOB
pop_guest_blob_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
