/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef FSA_ANALYZER_VERSION_H
#define FSA_ANALYZER_VERSION_H

/* The Makefile may say more exactly which tree was built. */
#ifndef FSASSAY_VERSION
#define FSASSAY_VERSION "0.1"
#endif

#endif
