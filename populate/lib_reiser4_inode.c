/* SPDX-License-Identifier: GPL-2.0-only */
/* Stat data through libreiser4's plugins. */
#include <errno.h>
#include <string.h>

#include "lib_reiser4.h"

/* The extension with the nanoseconds is there only when they are not 0. */
static int add_nanoseconds(struct lib_reiser4 *w, reiser4_object_t *object,
			   uint32_t nsec)
{
	sdhint_lt_t times = { nsec, nsec, nsec };
	stat_hint_t stat = { .extmask = UINT64_C(1) << SDEXT_LT_ID };
	reiser4_place_t *place = object_start(object);
	trans_hint_t hint = { 0 };

	stat.ext[SDEXT_LT_ID] = &times;
	hint.specific = &stat;
	hint.plug = place->plug;
	hint.shift_flags = SF_DEFAULT;
	place->pos.unit = 0;
	if (reiser4_tree_insert(w->fs->tree, place, &hint, LEAF_LEVEL) < 0)
		return -EIO;
	return reiser4_object_refresh(object) ? -EIO : 0;
}

int lib_reiser4_set_attr(struct lib_reiser4 *w, reiser4_object_t *object,
			 const struct lib_reiser4_attr *attr)
{
	sdhint_lw_t light = { 0 };
	sdhint_unix_t owner = { 0 };
	sdhint_lt_t times = { 0 };
	stat_hint_t stat = { 0 };
	trans_hint_t hint = { 0 };
	reiser4_place_t *place = object_start(object);
	int ret;

	/* Whatever was written may have moved the item. */
	if (reiser4_object_refresh(object))
		return -EIO;
	stat.ext[SDEXT_LW_ID] = &light;
	stat.ext[SDEXT_UNIX_ID] = &owner;
	hint.specific = &stat;
	hint.shift_flags = SF_DEFAULT;
	if (place->plug->object->fetch_units(place, &hint) != 1)
		return -EIO;
	if (attr->set_time && attr->nsec &&
	    !(stat.extmask >> SDEXT_LT_ID & 1)) {
		ret = add_nanoseconds(w, object, attr->nsec);
		if (ret)
			return ret;
		memset(stat.ext, 0, sizeof(stat.ext));
		stat.extmask = 0;
		stat.ext[SDEXT_LW_ID] = &light;
		stat.ext[SDEXT_UNIX_ID] = &owner;
		if (place->plug->object->fetch_units(place, &hint) != 1)
			return -EIO;
	}
	if (attr->set_mode) {
		light.mode = (uint16_t)((light.mode & ~07777U) |
					(attr->mode & 07777));
		owner.uid = attr->uid;
		owner.gid = attr->gid;
	}
	if (attr->set_time) {
		owner.atime = owner.mtime = owner.ctime = attr->sec;
		if (stat.extmask >> SDEXT_LT_ID & 1) {
			times = (sdhint_lt_t){ attr->nsec, attr->nsec,
					       attr->nsec };
			stat.ext[SDEXT_LT_ID] = &times;
		}
	}
	if (attr->set_size) {
		light.size = attr->size;
		owner.bytes = attr->bytes;
	}
	if (attr->set_links)
		light.nlink = attr->links;
	if (attr->set_device)
		owner.rdev = attr->device;
	if (place->plug->object->update_units(place, &hint) <= 0)
		return -EIO;
	return 0;
}
