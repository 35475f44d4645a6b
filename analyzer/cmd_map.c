/* SPDX-License-Identifier: GPL-2.0-only */
/* fsassay map: what lies where in an image, without a gap. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assay.h"
#include "cli.h"
#include "findings.h"
#include "json.h"
#include "map_at.h"
#include "mapfile.h"
#include "open.h"
#include "runmap.h"

enum { MAP_AT = CLI_OWN, MAP_PURPOSE, MAP_MAPFILE };

static const struct cli_option own_options[] = {
	{ MAP_AT, "at", "OFFSET", "say what the byte at OFFSET is, whose, and which path leads there" },
	{ MAP_PURPOSE, "purpose", "NAME", "show only stretches of this purpose; may be given several times" },
	{ MAP_MAPFILE, "mapfile", "FILE", "write a GNU ddrescue mapfile instead: used '+', free '?'" },
	{ 'n', "noheadings", NULL, "leave out the headings" },
	{ 0, NULL, NULL, NULL },
};

static const struct cli_spec spec = {
	.command = "map",
	.usage = "[OPTIONS] IMAGE",
	.about = "Lists what lies where: stretches in the order of their offsets that cover every byte of the\n"
		 "image exactly once, each with its purpose, what it is in the format's own words, and its owner.",
	.tables = { own_options, cli_json_option, open_option_table },
	.notes = "Offsets are counted from the start of the filesystem, in a mapfile from the start of the file.\n"
		 "A '*' behind the owner: others share some or all of the stretch.",
};

struct map {
	const struct opened *opened;
	bool json, no_headings, filtered;
	bool wanted[FSA_PURPOSES];
	const char *mapfile;
	bool have_at;
	uint64_t at;
	bool comma;
	bool many_devices;
};

static enum fsa_status print_tile(void *arg, const struct runmap_tile *tile)
{
	const struct map *map = arg;
	char number[32] = "";

	if (map->filtered && (tile->unexplained || !map->wanted[tile->purpose]))
		return FSA_OK;
	if (map->many_devices)
		printf("%6u ", tile->device);
	if (tile->number != FSA_NO_NUMBER)
		snprintf(number, sizeof(number), " %" PRIu64, tile->number);
	printf("0x%012" PRIx64 " %14" PRIu64 " %-12s %-24s %s%s%s\n", tile->offset, tile->length,
	       tile->unexplained ? "?" : fsa_purpose_name(tile->purpose), tile->detail != NULL ? tile->detail : "-",
	       tile->object != NULL ? tile->object : "-", number, tile->shared ? " *" : "");
	return FSA_OK;
}

static enum fsa_status print_tile_json(void *arg, const struct runmap_tile *tile)
{
	struct map *map = arg;
	json_t *object;
	char *text = NULL;

	if (map->filtered && (tile->unexplained || !map->wanted[tile->purpose]))
		return FSA_OK;
	object = json_pack("{s:I, s:o, s:o, s:s?, s:s?}", "device", (json_int_t)tile->device, "offset",
			   json_unsigned(tile->offset), "length", json_unsigned(tile->length), "purpose",
			   tile->unexplained ? NULL : fsa_purpose_name(tile->purpose), "detail", tile->detail);
	if (object != NULL && (tile->object == NULL ||
			       json_object_set_new(object, "object", json_string(tile->object)) == 0) &&
	    (tile->number == FSA_NO_NUMBER ||
	     json_object_set_new(object, "number", json_unsigned(tile->number)) == 0) &&
	    (!tile->shared || json_object_set_new(object, "shared", json_true()) == 0))
		text = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	if (text == NULL)
		return FSA_ENOMEM;
	/* Stretch by stretch: the map of a large filesystem need not be held in memory. */
	printf("%s\n    %s", map->comma ? "," : "", text);
	map->comma = true;
	free(text);
	return FSA_OK;
}

/* Holds the map against the ledger: they are two accounts of the same walk. */
static void check_sums(const struct map *map, const struct assay *assay, const struct runmap_sums *sums)
{
	const struct fsa_ledger_result *result = &assay->result;
	struct fsa_findings *findings = map->opened->findings;

	if (sums->total != result->image_bytes)
		fsa_find(findings, "map", FSA_NO_NUMBER, FSA_NO_OFFSET,
			 "stretches add up to %" PRIu64 " bytes, the image has %" PRIu64, sums->total,
			 result->image_bytes);
	if (sums->unexplained != 0)
		fsa_find(findings, "map", FSA_NO_NUMBER, FSA_NO_OFFSET,
			 "%" PRIu64 " bytes are claimed, but no owner was found for them", sums->unexplained);
	/* Contradictory claims are booked by whole blocks and shown by bytes: only then may they differ. */
	if (result->conflict_blocks != 0 || sums->unexplained != 0)
		return;
	for (unsigned p = 0; p < FSA_PURPOSES; p++)
		if (sums->purpose[p] != result->purpose_bytes[p])
			fsa_find(findings, "map", FSA_NO_NUMBER, FSA_NO_OFFSET,
				 "%" PRIu64 " bytes of %s in the map, %" PRIu64 " in the ledger", sums->purpose[p],
				 fsa_purpose_name(p), result->purpose_bytes[p]);
}

static void print_start(struct map *map)
{
	json_t *name;

	if (!map->json) {
		if (map->no_headings)
			return;
		if (map->many_devices)
			printf("%6s ", "DEVICE");
		printf("%-14s %14s %-12s %-24s %s\n", "OFFSET", "LENGTH", "PURPOSE", "DETAIL", "OWNER");
		return;
	}
	fputs("{\n  \"image\": ", stdout);
	name = json_object();
	if (name != NULL)
		json_set_bytes(name, "path", map->opened->argument, strlen(map->opened->argument));
	json_dumpf(name, stdout, JSON_COMPACT);
	json_decref(name);
	printf(",\n  \"image_start\": %" PRIu64 ",\n  \"runs\": [", fsa_image_start(map->opened->images[0]));
}

static int print_map(struct map *map, const struct assay *assay)
{
	struct runmap_sums sums;
	enum fsa_status status;

	map->many_devices = fsa_ledger_devices(assay->ledger) > 1;
	if (map->mapfile != NULL) {
		status = mapfile_write(map->mapfile, map->opened, assay->ledger, &sums);
	} else {
		print_start(map);
		status = runmap_walk(map->opened, assay->ledger, map->json ? print_tile_json : print_tile, map,
				     &sums);
	}
	if (status == FSA_OK)
		check_sums(map, assay, &sums);
	if (map->json && map->mapfile == NULL)
		printf("\n  ],\n  \"findings\": %" PRIu64 "\n}\n", findings_total(map->opened));
	if (status == FSA_OK)
		return CLI_CONSISTENT;
	if (status != FSA_STOP)
		cli_error("%s: %s", map->opened->argument, fsa_status_name(status));
	return CLI_FAILED;
}

static int run(struct map *map, const char *argument, const struct open_options *options)
{
	struct opened opened;
	struct assay assay;
	int status = open_argument(&opened, argument, options);

	if (status != CLI_CONSISTENT)
		return status;
	map->opened = &opened;
	status = assay_run(&assay, &opened, false);
	if (assay.ledger != NULL) {
		status = cli_worse(status, map->have_at ? map_at(&opened, assay.ledger, map->at, map->json)
							: print_map(map, &assay));
		assay_free(&assay);
	}
	status = cli_worse(status, findings_print(stderr, &opened, 0));
	open_close(&opened);
	return status;
}

static bool want_purpose(struct map *map, const char *name)
{
	for (unsigned p = 0; p < FSA_PURPOSES; p++)
		if (strcmp(fsa_purpose_name(p), name) == 0) {
			map->wanted[p] = true;
			map->filtered = true;
			return true;
		}
	return false;
}

int cmd_map(int argc, char **argv)
{
	struct open_options options = { .have_offset = false };
	struct map map = { .json = false };
	struct cli cli;
	int key;

	cli_begin(&cli, &spec, argc, argv);
	while ((key = cli_next(&cli)) > 0) {
		if (open_take_option(&options, &cli, key))
			continue;
		switch (key) {
		case MAP_AT:
			map.have_at = true;
			if (!cli_parse_size(cli.value, &map.at))
				return cli_usage_error(spec.command, "'%s' is no offset in bytes", cli.value);
			break;
		case MAP_PURPOSE:
			if (!want_purpose(&map, cli.value))
				return cli_usage_error(spec.command, "there is no purpose '%s'", cli.value);
			break;
		case MAP_MAPFILE:
			map.mapfile = cli.value;
			break;
		case 'n':
			map.no_headings = true;
			break;
		case 'J':
			map.json = true;
			break;
		}
	}
	if (cli.done)
		return cli.status;
	if (argc - optind != 1)
		return cli_usage_error(spec.command, optind == argc ? "which image?" : "one image at a time");
	if (map.mapfile != NULL && (map.have_at || map.filtered || map.json))
		return cli_usage_error(spec.command, "--mapfile goes with neither --at, --purpose nor --json");
	if (map.have_at && map.filtered)
		return cli_usage_error(spec.command, "--at does not go with --purpose");
	return run(&map, argv[optind], &options);
}
