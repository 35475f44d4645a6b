/* SPDX-License-Identifier: GPL-2.0-only */
/* Looking into cells of a result; what is not there is 0, and says so. */
#ifndef FSA_ANALYZER_TRIAL_GET_H
#define FSA_ANALYZER_TRIAL_GET_H

#include <jansson.h>
#include <stdbool.h>

/* By keys with dots between: "audit.df.used_kib". NULL when it is not there, or null. */
const json_t *trial_get(const json_t *from, const char *path);
/* As a number; `fallback` when there is none. */
double trial_number(const json_t *from, const char *path, double fallback);
const char *trial_string(const json_t *from, const char *path);	/* "" when there is none */

/* The cell was measured. */
bool trial_cell_done(const json_t *cell);
/* Bytes that df shows as used (the audit's, which the kernel's is compared with), of the ledger, and of the files. */
double trial_df_used(const json_t *cell);
double trial_ledger_used(const json_t *cell);
double trial_payload(const json_t *cell);
/* Bytes of a purpose. */
double trial_purpose(const json_t *cell, const char *purpose);
/* Inode tables: slots in use and free ones. */
double trial_inode_tables(const json_t *cell);

/* The entry of a filesystem in the result, by its name there. */
const json_t *trial_filesystem(const json_t *result, const char *name);
/* The cell that documented rows of this filesystem, option and collection are to be put beside; NULL: there is none. */
const json_t *trial_find_cell(const json_t *result, const char *documented, const char *option, const char *collection,
			      double sync_every);

#endif
