/* SPDX-License-Identifier: GPL-2.0-only */
/* The file or device on the host: opening it, and whether somebody else uses it meanwhile. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "image_private.h"

static enum fsa_status system_error(const char *name, const char *what, struct fsa_error *err)
{
	int number = errno;

	return fsa_fail(err, number == ENOENT || number == ENOTDIR ? FSA_ENOENT : FSA_ESYSTEM, "%s: %s: %s", name, what,
			strerrordesc_np(number));
}

enum fsa_status fsa_host_open(const char *path, const char *name, int *fd, uint64_t *size, struct fsa_error *err)
{
	struct stat st;

	/* Before opening: a FIFO would block, and a tape would rewind. */
	if (stat(path, &st) != 0)
		return system_error(name, "cannot be opened", err);
	if (S_ISDIR(st.st_mode))
		return fsa_fail(err, FSA_EINVAL, "%s: is a directory, not an image", name);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return fsa_fail(err, FSA_EINVAL, "%s: is neither a regular file nor a block device", name);
	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (*fd < 0)
		return system_error(name, "cannot be opened", err);
	/* Again, of what was really opened. */
	if (fstat(*fd, &st) != 0)
		return system_error(name, "cannot be examined", err);
	if (S_ISBLK(st.st_mode)) {
		if (ioctl(*fd, BLKGETSIZE64, size) != 0)
			return system_error(name, "size of the device", err);
	} else {
		*size = (uint64_t)st.st_size;
	}
	if (*size == 0)
		return fsa_fail(err, FSA_EINVAL, "%s: is empty", name);
	return FSA_OK;
}

/* --- who uses it --------------------------------------------------------------------------------------- */

/* Bytes of a device; a partition is given by its disk and its place there. */
struct region {
	dev_t disk;
	uint64_t start, end;
};

struct mount {
	bool found, writable;
	char where[256];
};

/* A small number or line from sysfs, without the newline. */
static bool read_line(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	bool ok;

	if (!f)
		return false;
	ok = fgets(text, (int)size, f) != NULL;
	fclose(f);
	if (ok)
		text[strcspn(text, "\n")] = '\0';
	return ok;
}

static uint64_t read_number(const char *path)
{
	char text[32];

	return read_line(path, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

static struct region region_of(dev_t dev)
{
	struct region r = { .disk = dev, .start = 0, .end = UINT64_MAX };
	char path[96], text[32];
	unsigned major_number, minor_number;

	/* Only partitions have "start"; the directory above a partition's is that of its disk. */
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/start", major(dev), minor(dev));
	if (!read_line(path, text, sizeof(text)))
		return r;
	r.start = strtoull(text, NULL, 10) * 512;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/size", major(dev), minor(dev));
	r.end = r.start + read_number(path) * 512;
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(dev), minor(dev));
	if (read_line(path, text, sizeof(text)) && sscanf(text, "%u:%u", &major_number, &minor_number) == 2)
		r.disk = makedev(major_number, minor_number);
	return r;
}

/* Parses a line of /proc/self/mountinfo (proc(5)); the line is cut up. */
static bool parse_mount(char *line, dev_t *dev, char **where, bool *writable)
{
	char *fields = strstr(line, " - "), *save, *source, *options, *word;
	unsigned major_number, minor_number;
	struct stat st;

	if (!fields)
		return false;
	*fields = '\0';
	if (sscanf(line, "%*u %*u %u:%u", &major_number, &minor_number) != 2)
		return false;
	word = strtok_r(line, " ", &save);
	for (unsigned i = 0; word && i < 4; i++)
		word = strtok_r(NULL, " ", &save);
	*where = word;
	if (!word || !strtok_r(fields + 3, " ", &save))	/* the filesystem's type */
		return false;
	source = strtok_r(NULL, " ", &save);
	options = strtok_r(NULL, " \n", &save);
	if (!source || !options)
		return false;
	*dev = makedev(major_number, minor_number);
	/* btrfs and others show a device number of their own making. */
	if (major_number == 0) {
		if (source[0] != '/' || stat(source, &st) != 0 || !S_ISBLK(st.st_mode))
			return false;
		*dev = st.st_rdev;
	}
	*writable = strncmp(options, "rw", 2) == 0;
	return true;
}

/* The first mount that overlaps the region, one that may write before one that may not. */
static void find_mount(const struct region *region, struct mount *found)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;

	found->found = false;
	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		struct region mounted;
		bool writable;
		char *where;
		dev_t dev;

		if (!parse_mount(line, &dev, &where, &writable))
			continue;
		mounted = region_of(dev);
		if (mounted.disk != region->disk || mounted.start >= region->end || mounted.end <= region->start)
			continue;
		if (found->found && (found->writable || !writable))
			continue;
		*found = (struct mount){ .found = true, .writable = writable };
		snprintf(found->where, sizeof(found->where), "%s", where);
	}
	free(line);
	fclose(f);
}

static void remark_mount(struct fsa_image *image, const struct mount *mount, const char *through)
{
	const char *by = through[0] ? " through /dev/" : "";

	if (mount->writable)
		fsa_image_add_remark(image, "is mounted at %s%s%s: figures may be torn", mount->where, by, through);
	else
		fsa_image_add_remark(image, "is mounted read-only at %s%s%s", mount->where, by, through);
}

static void remark_device(struct fsa_image *image, dev_t dev)
{
	struct region region = region_of(dev);
	const struct dirent *entry;
	struct mount mount;
	char path[96];
	DIR *holders;

	region.start += image->start;
	region.end = region.start + image->size;
	find_mount(&region, &mount);
	if (mount.found)
		remark_mount(image, &mount, "");
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/holders", major(dev), minor(dev));
	holders = opendir(path);
	if (!holders)
		return;
	while ((entry = readdir(holders)) != NULL)
		if (entry->d_name[0] != '.')
			fsa_image_add_remark(image, "is in use by /dev/%s: figures may be torn", entry->d_name);
	closedir(holders);
}

/* An image file may be mounted through loop devices. */
static void remark_loops(struct fsa_image *image, const struct stat *file)
{
	DIR *blocks = opendir("/sys/block");
	const struct dirent *entry;

	if (!blocks)
		return;
	while ((entry = readdir(blocks)) != NULL) {
		char path[400], text[PATH_MAX];
		uint64_t offset, limit;
		unsigned major_number, minor_number;
		struct region region;
		struct mount mount;
		struct stat backing;

		if (strncmp(entry->d_name, "loop", 4) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/loop/backing_file", entry->d_name);
		if (!read_line(path, text, sizeof(text)) || stat(text, &backing) != 0 ||
		    backing.st_dev != file->st_dev || backing.st_ino != file->st_ino)
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/loop/offset", entry->d_name);
		offset = read_number(path);
		snprintf(path, sizeof(path), "/sys/block/%s/loop/sizelimit", entry->d_name);
		limit = read_number(path);
		snprintf(path, sizeof(path), "/sys/block/%s/dev", entry->d_name);
		if (!read_line(path, text, sizeof(text)) ||
		    sscanf(text, "%u:%u", &major_number, &minor_number) != 2)
			continue;
		/* The window as the loop device sees it. */
		if (image->start + image->size <= offset || (limit && image->start >= offset + limit))
			continue;
		region.disk = makedev(major_number, minor_number);
		region.start = image->start > offset ? image->start - offset : 0;
		region.end = image->start + image->size - offset;
		find_mount(&region, &mount);
		if (mount.found) {
			remark_mount(image, &mount, entry->d_name);
			break;
		}
	}
	closedir(blocks);
}

void fsa_host_remark_use(struct fsa_image *image)
{
	struct stat st;

	if (fstat(image->fd, &st) != 0)
		return;
	if (S_ISBLK(st.st_mode))
		remark_device(image, st.st_rdev);
	else
		remark_loops(image, &st);
}
