# Read by the live tests and by the demonstration: the figures in what a run of an example printed.
# shellcheck shell=bash
# shellcheck disable=SC2034  # for those who read this

late_most=60 # per mille: above, the emulation could not keep up with its clock and its timing does not count

# Each takes a FILE and prints a number, or nothing where it is not known.
pages_percent() { sed -n "s/^pages on their thread's node: \([0-9.]*\) %.*/\1/p" "$1"; }
passes() { sed -n 's/^\([0-9]*\) passes in .*/\1/p' "$1"; }
# When 95 % of the pages were beside their threads, by the program's clock (with -v)
reached_s() { sed -n 's/^reached 95 % after \([0-9.]*\) s.*/\1/p' "$1"; }
# The machine's own count, in the last third of the run (with --laps, which makes it a lap of its own)
served_permille() { sed -n 's/^model end: .*local_permille \([0-9]*\).*/\1/p' "$1"; }
# The worst lap
late_permille() { sed -n 's/^model .* late_permille \([0-9]*\).*/\1/p' "$1" | sort -n | tail -n 1; }

# per_cent NUMBER [DIVISOR]: "98.1 %", nothing where it is not known
per_cent() { [ -z "$1" ] || awk -v n="$1" -v by="${2-1}" 'BEGIN { printf "%.1f %%", n / by }'; }

# holds A OP B: compares numbers, also fractions; an unknown one holds nothing
holds() { [ -n "$1" ] && [ -n "$3" ] && awk -v a="$1" -v b="$3" "BEGIN { exit !(a $2 b) }"; }

# Whether the emulation kept up with its clock in this run, or there was none
kept_up() { holds "$(late_permille "$1")" '<=' $late_most || [ -z "$(late_permille "$1")" ]; }
