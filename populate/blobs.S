/* SPDX-License-Identifier: GPL-2.0-only */
/* Files carried inside this program; see blobs.h. */
	.section .rodata
	.global pop_guest_blob
	.global pop_guest_blob_end
	.global pop_preload_blob
	.global pop_preload_blob_end
	.balign 16
pop_guest_blob:
	.incbin GUEST_BLOB
pop_guest_blob_end:
	.byte 0
	.balign 16
pop_preload_blob:
	.incbin PRELOAD_BLOB
pop_preload_blob_end:
	.byte 0
	.section .note.GNU-stack, "", %progbits
