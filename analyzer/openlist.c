/* SPDX-License-Identifier: GPL-2.0-only */
#include "openlist.h"

#include <stdlib.h>
#include <string.h>

struct place {
	const char *argument;
	struct fsa_image *image;	/* opened early, or NULL */
	bool done;			/* handed out, or refused with the reason printed */
	bool failed;			/* refused before its turn came */
};

struct openlist {
	const struct open_options *options;
	unsigned n, next;
	struct place places[];
};

struct openlist *openlist_new(char **arguments, unsigned n, const struct open_options *options)
{
	struct openlist *list = calloc(1, sizeof(*list) + n * sizeof(list->places[0]));

	if (list == NULL) {
		cli_error("%s", fsa_status_name(FSA_ENOMEM));
		return NULL;
	}
	list->options = options;
	list->n = n;
	for (unsigned i = 0; i < n; i++)
		list->places[i].argument = arguments[i];
	return list;
}

void openlist_free(struct openlist *list)
{
	if (list == NULL)
		return;
	for (unsigned i = 0; i < list->n; i++)
		fsa_image_close(list->places[i].image);
	free(list);
}

/* The filesystem on several devices that an image belongs to; false: it is none. */
static bool group_of(struct fsa_image *image, struct fsa_group *group)
{
	for (const struct fsa_parser *const *p = fsa_parsers; *p != NULL; p++)
		if ((*p)->device_group != NULL && (*p)->device_group(image, group) == FSA_OK)
			return group->members > 1;
	return false;
}

static bool open_early(struct openlist *list, struct place *place)
{
	if (place->image == NULL && !place->failed)
		place->failed = !open_image(&place->image, place->argument, list->options);
	return !place->failed;
}

/* Takes the rest of a group out of the list, into `images`. */
static unsigned join(struct openlist *list, const struct fsa_group *first, struct fsa_image **images, unsigned room)
{
	char (*members)[sizeof(first->member)] = calloc(room, sizeof(*members));
	unsigned n = 1;

	if (members == NULL)
		return n;
	memcpy(members[0], first->member, sizeof(first->member));
	for (unsigned i = list->next; i < list->n && n < room && n < first->members; i++) {
		struct place *place = &list->places[i];
		struct fsa_group group;
		bool again = false;

		if (place->done || !open_early(list, place) || !group_of(place->image, &group) ||
		    strcmp(group.id, first->id) != 0)
			continue;
		/* The same device once more starts a copy of the filesystem. */
		for (unsigned k = 0; k < n; k++)
			again |= strcmp(members[k], group.member) == 0;
		if (again)
			continue;
		memcpy(members[n], group.member, sizeof(group.member));
		images[n++] = place->image;
		place->image = NULL;
		place->done = true;
	}
	free(members);
	return n;
}

bool openlist_next(struct openlist *list, struct opened *opened, int *status)
{
	struct fsa_image *images[FSA_MAX_DEVICES];
	struct fsa_group group;
	struct place *place;
	unsigned n = 1;

	while (list->next < list->n && list->places[list->next].done)
		list->next++;
	if (list->next == list->n)
		return false;
	place = &list->places[list->next++];
	place->done = true;
	*opened = (struct opened){ .argument = place->argument };
	if (!open_early(list, place)) {
		*status = CLI_FAILED;
		return true;
	}
	images[0] = place->image;
	place->image = NULL;
	/* Who names the devices by options knows what belongs together. */
	if (list->options->n_devices == 0 && group_of(images[0], &group))
		n = join(list, &group, images, FSA_MAX_DEVICES - 2);
	*status = open_images(opened, place->argument, images, n, list->options);
	return true;
}
