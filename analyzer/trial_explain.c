/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a documented figure of space is another one than that measured. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "format.h"
#include "trial_beside.h"
#include "trial_get.h"

/* What has a part in a difference of this share of it is named. */
#define WORTH_NAMING 0.1

struct text {
	char *at;
	size_t room;
	unsigned parts;
};

static void part(struct text *text, const char *what, double bytes)
{
	const int n = snprintf(text->at, text->room, "%s%s %s", text->parts++ > 0 ? ", " : "", what,
			       format_human((uint64_t)bytes).text);

	if (n > 0 && (size_t)n < text->room) {
		text->at += n;
		text->room -= (size_t)n;
	}
}

static void words(struct text *text, const char *what)
{
	const int n = snprintf(text->at, text->room, "%s", what);

	if (n > 0 && (size_t)n < text->room) {
		text->at += n;
		text->room -= (size_t)n;
	}
}

/* Compression is the one way to take less room than what is in the files. */
static bool compresses(const json_t *cell)
{
	return strstr(trial_string(cell, "populate.mount_options"), "compress") != NULL ||
	       strstr(trial_string(cell, "populate.mkfs_command"), "ccreg40") != NULL;
}

/* More is used now: which of what is in the image now could be it. */
static void explain_more(struct text *text, const json_t *cell, double more)
{
	const double kept = trial_df_used(cell) - trial_ledger_used(cell);
	const struct {
		const char *what;
		double bytes;
	} parts[] = {
		{ "kept back by the driver", kept },
		{ "journal", kept >= 0 ? trial_purpose(cell, "journal") : 0 },
		{ "inode tables", kept >= 0 ? trial_inode_tables(cell) : 0 },
		{ "slack", trial_purpose(cell, "file-slack") },
		{ "preallocated", trial_purpose(cell, "preallocated") },
		{ "room in nodes", trial_purpose(cell, "node-free") },
	};

	words(text, "more now; in it: ");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i].bytes > more * WORTH_NAMING)
			part(text, parts[i].what, parts[i].bytes);
	if (text->parts == 0)
		words(text, "nothing of that size");
}

static void explain_less(struct text *text, const json_t *cell, double less)
{
	const double left_out = trial_ledger_used(cell) - trial_df_used(cell);
	const double saved = trial_number(cell, "audit.tails.saved_bytes", 0) +
			     trial_number(cell, "audit.inline.saved_bytes", 0);

	if (left_out > less * WORTH_NAMING) {
		words(text, "less now; today's df leaves out ");
		part(text, "fixed structures of", left_out);
		words(text, " (");
		text->parts = 0;
		part(text, "journal", trial_purpose(cell, "journal"));
		part(text, "inode tables", trial_inode_tables(cell));
		words(text, ")");
	} else if (saved > less * WORTH_NAMING) {
		words(text, "less now; ");
		part(text, "packing saves", saved);
	} else {
		words(text, "less now; nothing in today's image is so big");
	}
}

void trial_explain_used(char *out, size_t room, const json_t *cell, double least, double most)
{
	const double used = trial_df_used(cell), payload = trial_payload(cell);
	const double unsynced = trial_number(cell, "df_unsynced.used_kib", 0) * 1024;
	const double empty = trial_number(cell, "df_new.used_kib", 0) * 1024;
	struct text text = { out, room, 0 };

	*out = '\0';
	if (most < payload && !compresses(cell)) {
		words(&text, "CANNOT BE TRUE: less than ");
		part(&text, "the files, which are", payload);
		text.parts = 0;
		if (unsynced > 0 && unsynced < used * 0.95) {
			words(&text, "; not written back: ");
			part(&text, "here df showed before it", unsynced);
		} else {
			words(&text, "; read before write-back");
		}
	} else if (most < empty) {
		/* Of another mkfs it may be true, of the one at hand it is not. */
		part(&text, "less than an empty one of that size made now:", empty);
		words(&text, " (");
		text.parts = 0;
		if (used > trial_ledger_used(cell))
			part(&text, "kept back by the driver", used - trial_ledger_used(cell));
		part(&text, "journal", trial_purpose(cell, "journal"));
		words(&text, ")");
	} else if (used > least && used <= most) {
		words(&text, "agrees");
	} else if (used > most) {
		explain_more(&text, cell, used - most);
	} else {
		explain_less(&text, cell, least - used);
	}
}
