/* SPDX-License-Identifier: GPL-2.0-only */
#include "firstpath.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static size_t slot_of(const struct firstpath *map, struct fsa_ref ref)
{
	uint64_t h = ref.word[0] * 0x9e3779b97f4a7c15u;
	size_t i;

	h = (h ^ h >> 29 ^ ref.word[1]) * 0xbf58476d1ce4e5b9u;
	h = (h ^ h >> 32 ^ ref.word[2]) * 0x94d049bb133111ebu;
	i = (size_t)(h ^ h >> 31) & (map->room - 1);
	while (map->slots[i].at != 0 && !fsa_ref_equal(map->slots[i].ref, ref))
		i = (i + 1) & (map->room - 1);
	return i;
}

static bool grow_slots(struct firstpath *map)
{
	struct firstpath bigger = { .room = map->room != 0 ? map->room * 2 : 256 };

	if ((map->count + 1) * 4 <= map->room * 3)
		return true;
	bigger.slots = calloc(bigger.room, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return false;
	for (size_t i = 0; i < map->room; i++)
		if (map->slots[i].at != 0)
			bigger.slots[slot_of(&bigger, map->slots[i].ref)] = map->slots[i];
	free(map->slots);
	map->slots = bigger.slots;
	map->room = bigger.room;
	return true;
}

static bool keep_path(struct firstpath *map, const char *path, size_t length)
{
	if (map->paths_room - map->paths_length < length) {
		size_t room = map->paths_room != 0 ? map->paths_room : 4096;
		char *bigger;

		while (room - map->paths_length < length) {
			if (room > SIZE_MAX / 2)
				return false;
			room *= 2;
		}
		bigger = realloc(map->paths, room);
		if (bigger == NULL)
			return false;
		map->paths = bigger;
		map->paths_room = room;
	}
	memcpy(map->paths + map->paths_length, path, length);
	map->paths_length += length;
	return true;
}

bool firstpath_meet(struct firstpath *map, struct fsa_ref ref, const char *path, size_t length,
		    const char **first, size_t *first_length)
{
	struct firstpath_slot *slot;

	if (!grow_slots(map))
		return false;
	slot = &map->slots[slot_of(map, ref)];
	if (slot->at == 0 || slot->length == 0) {
		const size_t at = map->paths_length;

		if (!keep_path(map, path, length))
			return false;
		map->count += slot->at == 0;
		*slot = (struct firstpath_slot){ ref, at + 1, length };
	}
	*first = map->paths + slot->at - 1;
	*first_length = slot->length;
	return true;
}

bool firstpath_has(const struct firstpath *map, struct fsa_ref ref)
{
	const struct firstpath_slot *slot;

	if (map->room == 0)
		return false;
	slot = &map->slots[slot_of(map, ref)];
	return slot->at != 0 && slot->length != 0;
}

void firstpath_forget(struct firstpath *map, struct fsa_ref ref)
{
	if (map->room != 0)
		map->slots[slot_of(map, ref)].length = 0;
}

void firstpath_free(struct firstpath *map)
{
	free(map->slots);
	free(map->paths);
	*map = (struct firstpath){ NULL, 0, 0, NULL, 0, 0 };
}
