# Reads C files and judges each #include; see `layers`, which gives the tables.
function fail(text) { print FILENAME ":" FNR ": " text; failed = 1 }

function rank_of(file,    i)
{
	for (i = 1; i <= ranks; i++)
		if (file ~ rank_pattern[i])
			return rank[i]
	return -1
}

# The file of this tree that "name" means in a file of `folder`, or "".
function resolve(folder, name,    i, tries, path, line)
{
	tries[1] = folder "/" name
	tries[2] = "include/" name
	tries[3] = "libnsched/" name
	tries[4] = name
	for (i = 1; i <= 4; i++) {
		path = tries[i]
		while (sub(/[^\/]+\/\.\.\//, "", path)) {}
		if (path in is_file)
			return path
	}
	return ""
}

function judge_own(target)
{
	# The preload is compiled with this one file of the core's: whether there is anything to do is looked
	# up before the core is loaded.
	if (FILENAME ~ /^preload\// && target == "libnsched/sys/nodes.h")
		return
	# What they say on standard error they say without a signal for the program, as the core does.
	if (FILENAME ~ /^(preload|ompt_plugin)\// && target == "libnsched/sys/quiet.h")
		return
	# And the MPI plugin, preloaded as well, opens the core in the same way, with the same code.
	if (FILENAME ~ /^mpi_plugin\// && target == "preload/core.h")
		return
	if (FILENAME ~ /^(ompt_plugin|mpi_plugin|preload|examples)\// && target != "include/nsched.h" &&
	    target !~ "^" folder "/")
		fail("includes " target "; plugins, preload and examples see nsched.h alone")
	if (in_pure && target !~ /^libnsched\/pure\//)
		fail("includes " target "; pure/ sees pure/ alone")
	if (own_rank >= 0 && rank_of(target) > own_rank)
		fail("includes " target ", which is above it")
	pure_h_last = target == "libnsched/pure/pure.h"
}

function judge_foreign(name,    i)
{
	if (in_pure && name !~ ENVIRON["PURE"])
		fail("includes <" name ">; pure/ may not touch the machine")
	for (i = 1; i <= owners; i++)
		if (name ~ "^" owned[i] && FILENAME !~ owner[i])
			fail("includes <" name ">, which only " owner[i] " may")
	pure_h_last = 0
}

function end_of_file()
{
	if (last_file ~ /^libnsched\/pure\/.*\.c$/ && !pure_h_last) {
		print last_file ": must include pure.h, as its last one"
		failed = 1
	}
}

BEGIN {
	n = split(ENVIRON["RANKS"], line, "\n")
	for (i = 1; i <= n; i++)
		if (split(line[i], word, " ") == 2) { rank_pattern[++ranks] = word[1]; rank[ranks] = word[2] }
	n = split(ENVIRON["OWNERS"], line, "\n")
	for (i = 1; i <= n; i++)
		if (split(line[i], word, " ") == 2) { owned[++owners] = word[1]; owner[owners] = word[2] }
	for (i = 1; i < ARGC; i++)
		is_file[ARGV[i]] = 1
}

FNR == 1 {
	end_of_file()
	last_file = FILENAME
	folder = FILENAME
	sub(/\/[^\/]*$/, "", folder)
	own_rank = rank_of(FILENAME)
	in_pure = FILENAME ~ /^libnsched\/pure\//
	pure_h_last = 0
	if (own_rank < 0)
		fail("has no place in the layers: give it one in tests/lint/layers")
}

/^[ \t]*#[ \t]*include[ \t]*["<]/ {
	name = $0
	sub(/^[^"<]*["<]/, "", name)
	sub(/[">].*/, "", name)
	target = resolve(folder, name)
	if (target != "")
		judge_own(target)
	else
		judge_foreign(name)
}

END {
	end_of_file()
	exit failed
}
