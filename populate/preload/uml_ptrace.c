/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loaded into user-mode Linux (LD_PRELOAD): ptrace() that sets the extended
 * processor state from a buffer that is shorter than the state.
 *
 * User-mode Linux 6.1 gets and sets the state of its processes with
 * PTRACE_GETREGSET and PTRACE_SETREGSET in 2696 bytes (HOST_FP_SIZE in
 * arch/x86/um/user-offsets.c: up to AVX-512 and protection keys).  Getting
 * cuts; setting wants all of the state, 11008 bytes on processors with AMX,
 * and fails with EFAULT, of which the first guest process dies.  Here the
 * bytes behind the buffer's end stay as they are.  The older requests,
 * PTRACE_GETFPREGS and PTRACE_SETFPREGS, are no way out: a page fault would
 * then lose what lies beyond the SSE registers.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#define REGSET_XSTATE	0x202	/* NT_X86_XSTATE of elf.h */
#define STATE_ROOM	65536	/* more than the state of any processor */

typedef long ptrace_function(int request, ...);

long ptrace(enum __ptrace_request request, ...)
{
	static ptrace_function *next;
	static unsigned char whole[STATE_ROOM] __attribute__((aligned(64)));
	va_list args;
	int pid;
	void *addr, *data;

	va_start(args, request);
	pid = va_arg(args, int);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "ptrace");
	if (!next) {
		errno = ENOSYS;
		return -1;
	}
	if (request == PTRACE_SETREGSET && addr == (void *)REGSET_XSTATE) {
		const struct iovec *part = data;
		struct iovec all = { whole, sizeof(whole) };

		if (!next(PTRACE_GETREGSET, pid, addr, &all) &&
		    all.iov_len > part->iov_len) {
			memcpy(whole, part->iov_base, part->iov_len);
			return next(PTRACE_SETREGSET, pid, addr, &all);
		}
	}
	return next((int)request, pid, addr, data);
}
