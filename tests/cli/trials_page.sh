#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# docs/trials.md shows what the shipped results say: each row of its tables is a row of their reports. The results are valid, and
# of the plans that are shipped with them.
. "$(dirname "$0")/../oracle/lib.sh"
need python3
cd "$TMP" || exit 1
for file in "$TOP"/samples/trials/results/*.result.json; do
	name=$(basename "$file" .result.json)
	"$FSASSAY" trial --format markdown --report "$file" >>all.md 2>err
	result "report $name" "$([ $? = 0 ] || cat err)"
	result "plan $name" "$(python3 -c 'import json, sys
print("" if json.load(open(sys.argv[1]))["plan"] == open(sys.argv[2]).read() else "it is of another version of the plan")' \
		"$file" "$TOP/samples/trials/$name.plan" 2>&1)"
	if python3 -c 'import jsonschema' 2>/dev/null; then
		result "schema $name" "$(python3 -c 'import json, sys, jsonschema
schema, document = (json.load(open(p)) for p in sys.argv[1:])
for e in list(jsonschema.validators.validator_for(schema)(schema).iter_errors(document))[:1]:
    print(list(e.path), e.message[:200])' "$TOP/analyzer/schema/trial.schema.json" "$file" 2>&1)"
	fi
done
result "page" "$(grep '^|' "$TOP/docs/trials.md" | grep -vxF -f <(grep '^|' all.md) | head -n 2)"
[ "$(grep -c '^|' "$TOP/docs/trials.md")" -gt 20 ] && why= || why="it has no tables"
result "page has tables" "$why"
for plan in "$TOP"/samples/trials/*.plan; do
	# Its tables are there, and it is a plan: nothing matches the pattern, so nothing is run.
	"$FSASSAY" trial --only 'none/at-all' --result "$TMP/none.json" --restart "$plan" >out 2>err
	status=$?
	result "plan $(basename "$plan")" "$([ $status = 0 ] || tail -n 2 err)"
done
