#!/bin/sh
# nsched report: reports as data, what is read in them, and where it places ranks.
. "${srcdir:-.}/tests/tools/harness.sh"

nsched=$build/tools/nsched
cd "$work" || exit 99

# a job of 8 ranks on two machines, in turns; rank R sends most to R + 4
mkdir job
for rank in 0 1 2 3 4 5 6 7; do
	host=alpha
	[ $((rank % 2)) = 1 ] && host=beta
	cat >job/r.rank$rank.json <<END
{"version": "0.1.0", "state": "active", "reason": "", "run_s": 10.5, "host": "$host", "pid": 1, "machine_cpus": 8, "cpus": 4, "threads": 2,
 "rank": $rank, "ranks": 8, "local_permille_first": 250, "local_permille_last": 987, "thread_moves": 1, "moved_bytes": 4194304,
 "exchange": {"library": "Open MPI", "sent": [
  {"rank": $(((rank + 1) % 8)), "messages": 100, "bytes": 104857600},
  {"rank": $rank, "messages": 1, "bytes": 1000000000},
  {"rank": -1, "messages": 1, "bytes": 1000000000}]}}
END
done
echo '{"other": 1}' >job/other.json
echo 'no JSON' >job/broken.json

# says WHAT CODE TEXT ARGUMENTS
says()
{
	what=$1 want=$2 text=$3
	shift 3
	got=$("$nsched" report "$@" 2>&1)
	same "$what: exit code" "$want" $?
	holds "$what" "$got" "$text"
}
says 'machines' 0 'machine alpha, 4 ranks' job
says 'machines' 0 'machine beta, 4 ranks' job
says 'a rank' 0 '  rank 3: ran 10.5 s, active, 2 threads; local first 25.0 % last 98.7 %; moved 1 threads, 4.0 MiB; sent 101 messages' job
says 'the cut' 0 'between machines, as it ran: 800.0 MiB of 800.0, 100.0 %' job
says 'one report' 0 'no report of 7 of 8 ranks' job/r.rank3.json
says 'help' 0 'usage: nsched report' --help
says 'nothing' 2 'nsched: which reports? nsched report FOLDER'
says 'no file' 2 'nsched: nowhere: No such file or directory' nowhere
says 'no JSON' 2 'nsched: job/broken.json is no report as JSON' job/broken.json
says 'other JSON' 2 'nsched: job/other.json is JSON, but no report of nsched' job/other.json
says 'an option' 2 'nsched: report has no option --rankfiel; did you mean --rankfile?' --rankfiel=x job
says 'an option' 2 'nsched: --hostfile: a file'"'"'s name is missing' job --hostfile
says 'not all' 2 "nsched: ranks without a report can't be placed" --rankfile=x job/r.rank3.json
mkdir empty twice
says 'an empty folder' 2 'nsched: there is no report here' empty
cp job/r.rank0.json twice/a.json && cp job/r.rank0.json twice/b.json
says 'two runs' 2 'nsched: twice/a.json and twice/b.json are both of rank 0' twice
sed 's/"ranks": 8/"ranks": 4/' job/r.rank1.json >twice/b.json
says 'two jobs' 2 'others are of a job of 8 ranks' twice
sed 's/"rank": 1,/"rank": 99,/' job/r.rank0.json >twice/a.json
says 'nonsense' 2 'makes no sense in a job of 8 ranks' twice/a.json
sed '/"exchange"/,$d' job/r.rank0.json | sed 's/4194304,/4194304}/' >one.json
says 'no matrix' 2 'nsched: ranks without a report' --rankfile=x one.json

if "$nsched" report --hostfile=hosts job 2>&1 | grep -q 'built without Scotch'; then
	says 'no Scotch' 125 'libscotch-dev' --hostfile=hosts job
	finish
fi
# a ring over two machines is cut twice, wherever it is cut
says 'placed' 0 'between machines, as placed for the next run: 200.0 MiB of 800.0, 25.0 %' --rankfile=ranks --hostfile=hosts job
same 'a machine a line' 8 "$(wc -l <hosts)"
same 'four on each' '4 alpha 4 beta' "$(sort hosts | uniq -c | awk '{ printf "%s%s %s", (NR > 1 ? " " : ""), $1, $2 }')"
same 'the same in both' "$(cat hosts)" "$(sed 's/.*=\(.*\) slot.*/\1/' ranks)"
same 'parts of its CPUs' '0-1 2-3 4-5 6-7' "$(sed -n 's/.*=alpha slot=//p' ranks | tr '\n' ' ' | sed 's/ $//')"
same 'in the order of the ranks' '0 1 2 3 4 5 6 7' "$(sed 's/rank \([0-9]*\)=.*/\1/' ranks | tr '\n' ' ' | sed 's/ $//')"
says 'a folder that is not there' 2 'nsched: nowhere/hosts: No such file or directory' --hostfile=nowhere/hosts job
sed -i 's/"beta"/"alpha"/' job/*.json
says 'one machine' 0 'all ranks ran on one machine' --hostfile=hosts job
# on four nodes: a ring in order is best as it is; where 0 talks to 4, 1 to 5.. each pair comes to a node
sed -i 's/"cpus": 4/"cpus": 8, "nodes": 4/' job/*.json
says 'a ring on nodes' 0 'between machines, as placed for the next run: 0.0 MiB' --rankfile=ranks job
same 'a ring on nodes' '0 1 2 3 4 5 6 7' "$(sed 's/.*slot=//' ranks | tr '\n' ' ' | sed 's/ $//')"
for rank in 0 1 2 3 4 5 6 7; do
	sed -i "s/{\"rank\": $(((rank + 1) % 8)), \"messages\": 100/{\"rank\": $(((rank + 4) % 8)), \"messages\": 100/" job/r.rank$rank.json
done
says 'pairs on nodes' 0 'between nodes of a machine: 800.0 MiB in the order of the ranks, 0.0 as in the rankfile' --rankfile=ranks job
same 'each pair on a node' '4 nodes of one pair' \
	"$(sed 's/rank \([0-9]*\)=.*slot=/\1 /' ranks | awk '{ on[$1 % 4] = on[$1 % 4] " " int($2 / 2) } END { for (p in on) { split(on[p], n); same += n[1] == n[2] } print same " nodes of one pair" }')"
finish
