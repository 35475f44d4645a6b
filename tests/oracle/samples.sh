#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The shipped samples are what their manifests say, and what the kernel that filled them said.
. "$(dirname "$0")/lib.sh"
need python3 xz tar
for packed in "$TOP"/samples/*.img.xz; do
	name=$(basename "$packed" .img.xz)
	xz -dc "$packed" >"$TMP/$name.img"
	cp "$TOP/samples/$name.manifest.json" "$TMP/$name.img.manifest.json"
	check_image "$name"
	[ -f "$TOP/samples/$name.cmd" ] || result "$name" "the command that made it is not recorded"
	drop_image "$name"
done
