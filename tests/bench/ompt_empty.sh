#!/bin/sh
# Nanoseconds of an empty parallel region without a tool, with an empty one, with the plugin on a machine
# of one node (which it leaves at once), and with the plugin at work. The libnsched inside only answers, so
# that the last is the plugin's own cost. ROUNDS in the environment: more are quieter (20).
. "${srcdir:-.}/tests/tools/harness.sh"

# Aims, from the design: nothing on one node, and at most so many ns a region above an empty tool with the
# same callbacks. Regions of two threads are noisy (equal programs differ by 5 % and more, by the placement
# of the runtime's data alone), serialized ones are not: the first aim is judged by these. Failure is
# twice the second aim, so that a disturbed machine does not fail.
one_node_percent=2
above_empty_ns=60

empty=$(built tests/bench/ompt_empty_tool.so)
plugin=$(built tests/plugin/fake_ompt.so)
"$build/tests/bench/ompt_empty" "${ROUNDS:-20}" \
	none=OMP_TOOL=disabled \
	"empty=OMP_TOOL_LIBRARIES=$empty" \
	"one_node=OMP_TOOL_LIBRARIES=$plugin,FAKE_WORTHWHILE=0" \
	"active=OMP_TOOL_LIBRARIES=$plugin,FAKE_WORTHWHILE=1,FAKE_RECORD=0" >"$work/figures" || exit 99

awk -v percent=$one_node_percent -v above=$above_empty_ns '
	BEGIN { split("none one_node empty active", name); said["none"] = "no tool"; said["empty"] = "an empty tool"
		said["one_node"] = "the plugin on one node"; said["active"] = "the plugin at work" }
	{
		parallel[$1] = $2; serialized[$1] = $3; barrier[$1] = $4
		printf "%-9s %8.1f ns a region %8.1f ns serialized %8.1f ns a barrier\n", $1, $2, $3, $4
	}
	function more(a, b) { return 100 * (a / b - 1) }
	END {
		node = more(serialized["one_node"], serialized["none"])
		region = parallel["active"] - parallel["empty"]
		printf "one node: %+.1f %% a region, %+.1f %% serialized (aim: %d)\n",
			more(parallel["one_node"], parallel["none"]), node, percent
		printf "active: %+.1f ns above an empty tool (aim: %d), %+.1f ns serialized\n", region, above,
			serialized["active"] - serialized["empty"]
		for (i = 1; i <= 4; i++) {  # for make bench
			printf "native: empty parallel region, %s: %.1f ns\n", said[name[i]], parallel[name[i]]
			printf "native: serialized region, %s: %.1f ns\n", said[name[i]], serialized[name[i]]
			printf "native: barrier, %s: %.1f ns\n", said[name[i]], barrier[name[i]]
		}
		exit node > percent || region > 2 * above
	}' "$work/figures"
