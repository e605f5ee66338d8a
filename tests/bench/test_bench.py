"""The bench's own tests: from recorded outputs to figures, closure, what is still to be run, and what is shown. No machine
is started: where a run is needed, a script stands for it."""
import argparse
import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.realpath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)
from benchlib import figures, native, picture, plan, show, tables  # noqa: E402
from benchlib.runner import Bench  # noqa: E402

ROW = {"name": "numa02", "group": "autonuma", "what": "slices", "command": ["{programs}/zero"], "hard": ["--bind", "hard"],
       "seconds": 8, "nodes": 4, "cpus": 2, "smt": 1, "mib": 768, "model": "default", "figure": "bench", "unit": "KiB/s"}
COLUMNS = [{"name": "none", "what": "", "reference": True}, {"name": "kernel", "what": "", "balancing": 1},
           {"name": "numad", "what": "", "daemon": "numad"}, {"name": "hard", "what": "", "row": "hard", "reference": True},
           {"name": "nsched", "what": "", "nsched": True}]


def recorded(name, row=None):
    return figures.read_run(row or ROW, os.path.join(HERE, "recorded", name))


class Recorded(unittest.TestCase):
    def test_none(self):
        run = recorded("none")
        self.assertEqual(run["status"], 0)
        self.assertNotIn("void", run)
        self.assertEqual(run["migrated"], 0)
        self.assertAlmostEqual(run["value"], run["value_raw"])
        self.assertAlmostEqual(run["value"], 17600, delta=400)
        self.assertAlmostEqual(run["local_last"], 294, delta=30)
        self.assertAlmostEqual(run["seconds"], 8, delta=0.2)

    def test_kernel_converges_and_is_charged(self):
        run = recorded("kernel")
        self.assertEqual(run["migrated"], 1563)
        self.assertAlmostEqual(run["local_last"], 990, delta=1)
        self.assertLess(run["value"], run["value_raw"])
        # 1563 pages of 3 us of model time, 100 times slower, over 8 threads and 8 s
        self.assertAlmostEqual(run["value_raw"] / run["value"], 1 + 1563 * 3e-4 / 8 / run["seconds"], places=9)
        steps = [dict(t=t, wall_s=0.5, misses=1, local=local) for t, local, _late, _m in run["laps"]]
        self.assertAlmostEqual(figures.converged_s(steps, 900), 0.92, delta=0.01)
        self.assertIsNone(figures.converged_s(steps, 995))

    def test_pages_of_the_last_third(self):
        run = recorded("kernel")
        self.assertEqual(run["migrated_last"], 1563 - 1547)

    def test_numad_that_moves_a_process_to_where_it_is(self):
        self.assertIs(recorded("numad")["daemon_acted"], False)
        self.assertTrue(figures.daemon_acted("Advising pid 219 (zero) move from nodes (0-3) to nodes (1-3)\n"))
        self.assertFalse(figures.daemon_acted(""))

    def test_nsched_report(self):
        run = recorded("nsched")
        self.assertEqual(run["overhead_permille"], 75)
        self.assertEqual(run["states"], ["active"])

    def test_a_program_that_says_only_for_how_long(self):
        """Two seconds at the beginning and one at the end belong to whoever starts and ends the program."""
        lines = [0, 40, 45] + [100, 98, 99, 100, 100, 50] + [42, 40]
        laps = [{"t": i + 1.0, "wall_s": 1.0, "misses": n, "local": i} for i, n in enumerate(lines)]
        worked = figures.while_working(laps, 5.5)
        self.assertEqual(worked[-1]["t"], 9)
        self.assertEqual([lap["local"] for lap in figures.last_third(worked, 6)], [7, 8])
        self.assertEqual(figures.while_working(laps, 100)[-1]["t"], 11, "longer than it ran")
        self.assertEqual(figures.while_working([], 5), [])

    def test_perf_numa(self):
        row = {**ROW, "figure": "perf-numa", "unit": "GB/s"}
        with open(os.path.join(HERE, "recorded/perf/stdout"), encoding="ascii") as file:
            texts = {"stdout": file.read(), "watch": "end seconds 9.0 migrated 0 user 1.0 system 1.0 status 0"}
        run = figures.figures_of(row, texts, [], 0)
        self.assertAlmostEqual(run["value"], 0.02, places=9)
        self.assertIsNone(run["last"])
        texts["model"] = "model before: wall_s 1 misses 0 local_permille 0 late_permille 0\n" + \
            "".join("model lap: wall_s 1.00 insns 1 accesses 1 misses 200000 local_permille 500 late_permille 0 served 1\n" for _ in range(9))
        self.assertAlmostEqual(figures.figures_of(row, texts, [], 0)["last"], 200000 * 64 / 1e9, places=9)

    def test_busy_host_is_void(self):
        text = "bench: work 80 seconds 8 last_work 40 last_seconds 2"
        watch = "end seconds 8 migrated 0 user 1 system 1 status 0"
        for lates, void, void_last in (((0, 0, 0), False, False), ((61, 61, 61), True, True), ((60, 60, 60), False, False),
                                       ((0, 0, 90), False, True), ((200, 0, 0), True, False)):
            model = "model before: wall_s 1 misses 0 local_permille 0 late_permille 0\n" + "".join(
                f"model lap: wall_s 2.00 insns 1 accesses 1 misses 10 local_permille 500 late_permille {late} served 1\n" for late in lates)
            run = figures.figures_of(ROW, {"stdout": text, "watch": watch, "model": model}, [], 0)
            self.assertEqual(("void" in run, "void_last" in run), (void, void_last), lates)

    def test_failures_say_why(self):
        run = figures.figures_of(ROW, {"stdout": "", "stderr": "zero: no memory\n", "watch": ""}, [], 2)
        self.assertIn("failed with 2: zero: no memory", run["void"])
        self.assertTrue(run["failed"])
        run = figures.figures_of(ROW, {"impossible": "kernel.numa_balancing cannot be set to 1\n"}, [], 1)
        self.assertEqual(run["void"], "kernel.numa_balancing cannot be set to 1")
        self.assertIsNone(figures.read_run(ROW, "/nonexistent"))

    def test_what_was_before_the_clock_does_not_count(self):
        model = ("model lap: wall_s 0.50 insns 1 accesses 1 misses 999 local_permille 0 late_permille 0 served 1\n"
                 "model before: wall_s 0.20 misses 7 local_permille 0 late_permille 999\n"
                 "model lap: wall_s 0.30 insns 1 accesses 1 misses 100 local_permille 250 late_permille 0 served 1\n"
                 "model end: wall_s 0.40 insns 1 accesses 1 misses 300 local_permille 750 late_permille 0 served 1\n"
                 "model lap: wall_s 0.50 insns 1 accesses 1 misses 5 local_permille 0 late_permille 0 served 1\n")
        watch = ("lap 1 seconds 0.5 migrated 40\nlap 2 seconds 1.0 migrated 50\nlap 3 seconds 1.9 migrated 90\n"
                 "end seconds 2.0 migrated 90 user 1 system 1 status 0\n")
        laps = figures.laps_of(model, watch)
        self.assertEqual([(lap["t"], lap["misses"], lap["migrated"]) for lap in laps], [(0.3, 100, 10), (0.7, 300, 50)])
        self.assertAlmostEqual(figures.sums(laps)["local"], 625)


class Arithmetic(unittest.TestCase):
    def test_closure(self):
        for value, none, hard, closed in ((340.3, 340.3, 166.6, 0), (216.9, 340.3, 166.6, 0.7104), (118.7, 425.1, 200.56, 1.3646),
                                          (17.0, 56.1, 14.9, 0.949), (17.8, 14.8, 29.6, 0.2027), (14.0, 14.8, 29.6, -0.0541)):
            self.assertAlmostEqual(figures.closure(value, none, hard), closed, places=3)
        self.assertIsNone(figures.closure(10, 100, 104), "no gap to speak of")
        self.assertIsNone(figures.closure(None, 1, 2))

    def test_speed_is_better_above_one(self):
        self.assertAlmostEqual(figures.speed(20, 10, True), 2)
        self.assertAlmostEqual(figures.speed(20, 10, False), 0.5)
        self.assertIsNone(figures.speed(20, None, True))

    def test_charge_makes_worse_either_way(self):
        self.assertLess(figures.charged(100, True, 8, 1000, ROW), 100)
        self.assertGreater(figures.charged(100, False, 8, 1000, ROW), 100)
        self.assertEqual(figures.charged(100, True, 8, 0, ROW), 100)

    def test_slow(self):
        self.assertEqual(figures.slow_of(ROW), 100)
        self.assertEqual(figures.slow_of({**ROW, "model": "remote=300,slow=250"}), 250)


def cell(*values, **more):
    """A cell whose repeats had these values."""
    return {"runs": {str(i): {"value": v, "last": v, "local": 500, "local_last": 900, "migrated": 0, "laps": [], **more}
                     for i, v in enumerate(values)}}


class Cells(unittest.TestCase):
    def row(self, **cells):
        return figures.row_figures(ROW, cells, COLUMNS)

    def test_ratio_is_to_the_same_repeat(self):
        cells = self.row(none=cell(10, 20, 30), hard=cell(40, 80, 120), nsched=cell(20, 40, 60))["cells"]
        self.assertEqual(cells["nsched"]["ratio_whole"], {"median": 2, "min": 2, "max": 2, "n": 3})
        self.assertAlmostEqual(cells["nsched"]["closure_whole"], (40 - 20) / (80 - 20))
        self.assertFalse(cells["nsched"]["unsteady"])

    def test_unsteady_repeats_are_told(self):
        cells = self.row(none=cell(10, 10, 10), hard=cell(40, 40, 40), nsched=cell(20, 20, 22.5))["cells"]
        self.assertTrue(cells["nsched"]["unsteady"])
        self.assertIn("unsteady (its ratios differ by 12 %)", show.marks(cells["nsched"]))

    def test_void_runs_do_not_count(self):
        nsched = cell(20, 20, 99)
        nsched["runs"]["2"]["void"] = "late 120"
        cells = self.row(none=cell(10, 10, 10), hard=cell(40, 40, 40), nsched=nsched)["cells"]
        self.assertEqual(cells["nsched"]["value"]["n"], 2)
        self.assertIn("1 void (late 120)", show.marks(cells["nsched"]))
        self.assertIsNone(show.empty(cells["nsched"]))
        cells = self.row(none=cell(10, void="late 80"), hard=cell(40), nsched=cell(20))["cells"]
        self.assertEqual(show.empty(cells["none"]), "void (late 80)")
        self.assertIsNone(cells["nsched"]["ratio_whole"])
        self.assertIsNone(cells["nsched"]["closure_whole"])

    def test_where_nsched_is_behind(self):
        row = self.row(none=cell(10, 10), kernel=cell(30, 30), numad=cell(35, 35, daemon_acted=False), hard=cell(40, 40), nsched=cell(20, 20))
        self.assertEqual({(l["to"], l["part"], l["percent"]) for l in row["loses"]}, {("kernel", "whole", 33.3), ("kernel", "last", 33.3)})
        row = self.row(none=cell(10, 10), kernel=cell(20.5, 20.5), hard=cell(40, 40), nsched=cell(20, 20))
        self.assertEqual(row["loses"], [])
        row = self.row(none=cell(10, 10), hard=cell(40, 40), nsched=cell(9, 9))
        self.assertEqual({l["to"] for l in row["loses"]}, {"none"})

    def test_not_engaged(self):
        cells = self.row(none=cell(10, 10), numad=cell(12, 12, daemon_acted=False), hard=cell(40, 40))["cells"]
        self.assertEqual(cells["numad"]["not_engaged"], "its log shows an action in 0 of 2 runs")
        cells = self.row(none=cell(10, 10), numad=cell(12, 12, daemon_acted=True), hard=cell(40, 40))["cells"]
        self.assertNotIn("not_engaged", cells["numad"])

    def test_a_row_that_shows_nothing_is_void(self):
        row = {**ROW, "loss_least": 20, "inverse": ["x"]}
        for worst, void in ((31, False), (33, True)):
            result = figures.row_figures(row, {"none": cell(35), "hard": cell(40), "inverse": cell(worst)}, COLUMNS)
            self.assertEqual(result["void"] is not None, void)


class Plan(unittest.TestCase):
    names = list("abcdefgh")

    def test_order_turns(self):
        orders = [plan.rotated(self.names, repeat, 3) for repeat in range(3)]
        for order in orders:
            self.assertEqual(sorted(order), self.names)
        self.assertEqual(len({order[0] for order in orders}), 3)
        before = [{(a, b) for a, b in zip(order, order[1:])} for order in orders]
        self.assertLess(len(before[0] & before[1]), 2)

    def left(self, there, repeats=2):
        return plan.jobs_left(self.names[:3], {n: "k" for n in self.names}, repeats, there.get)

    def test_only_what_is_missing(self):
        self.assertEqual(len(self.left({})), 6)
        self.assertEqual(self.left({f"{c}-k.{r}.0": {} for c in "abc" for r in (0, 1)}), [])
        there = {f"{c}-k.{r}.0": {} for c in "abc" for r in (0, 1) if (c, r) != ("b", 1)}
        self.assertEqual(self.left(there), [(1, "b", 0)])

    def test_what_did_not_count_is_tried_again_but_not_for_ever(self):
        there = {f"{c}-k.0.0": {} for c in "abc"}
        there["b-k.0.0"] = {"void": "late 99"}
        self.assertEqual(self.left(there, 1), [(0, "b", 1)])
        there["b-k.0.1"] = {"void": "late 99"}
        self.assertEqual(self.left(there, 1), [(0, "b", 2)])
        there["b-k.0.2"] = {"void": "late 99"}
        self.assertEqual(self.left(there, 1), [])
        self.assertEqual(plan.counted(plan.attempts(there.get, "b", "k", 0))["void"], "late 99")
        there["b-k.0.2"] = {"value": 1}
        self.assertEqual(plan.counted(plan.attempts(there.get, "b", "k", 0)), {"value": 1})

    def test_what_failed_is_not_tried_again(self):
        self.assertEqual(self.left({f"{c}-k.0.0": {"void": "x", "failed": True} for c in "abc"}, 1), [])

    def test_a_boot_takes_whole_repeats_and_first_tries_go_first(self):
        there = {"a-k.0.0": {"void": "late 99"}, "b-k.0.0": {}, "c-k.0.0": {}}
        left = self.left(there, 3)
        for most_s, repeats in ((30, {(1, 0)}), (59, {(1, 0)}), (60, {(1, 0), (2, 0)}), (70, {(1, 0), (2, 0), (0, 1)})):
            boot = plan.next_boot(left, lambda c: 10, most_s)
            self.assertEqual({(r, t) for r, _c, t in boot}, repeats, most_s)
            self.assertEqual(boot, left[:len(boot)])
        self.assertEqual(len(plan.next_boot(left, lambda c: 10, 25)), 2)
        self.assertEqual(len(plan.next_boot(left, lambda c: 10, 1)), 1, "never none")
        self.assertEqual(left[-1], (0, "a", 1))


class Tables(unittest.TestCase):
    def setUp(self):
        self.rows = tables.read_rows(os.path.join(HERE, "rows.toml"))
        self.columns = tables.read_columns(os.path.join(HERE, "columns.toml"))

    def refused(self, text, words, read):
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(text)
            file.flush()
            with self.assertRaises(tables.TableError) as caught:
                read(file.name)
        self.assertIn(words, str(caught.exception))

    def test_refusals(self):
        self.refused('[[row]]\nname = "a"\ncomand = ["x"]\n', 'a: there is no field "comand"; did you mean command?', tables.read_rows)
        self.refused('[[row]]\nname = "a"\ncommand = "x"\n', "a: command is 'x', which is no list", tables.read_rows)
        self.refused('[[row]]\nname = "a"\ncommand = ["x"]\n[[row]]\nname = "a"\ncommand = ["x"]\n', '"a" is there twice', tables.read_rows)
        self.refused('[[row]]\nname = "a"\n', "a has no command", tables.read_rows)
        self.refused('[[row]]\nname = "a"\nsame_as = "b"\n', "same_as names no row: b", tables.read_rows)
        self.refused('[[column]]\nwhat = "a"\n', "entry 1 has no name", tables.read_columns)
        self.refused('[[row]]\nname = "a"\ncommand = ["x"]\nshape = "2,x"\n', "a: shape is '2,x', which is no CPUS[:MIB],...", tables.read_rows)
        self.refused("[[row\n", ".toml: ", tables.read_rows)
        with self.assertRaises(tables.TableError) as caught:
            tables.chosen(self.rows, ["numa03"], "row")
        self.assertIn('there is no row "numa03"; did you mean numa0', str(caught.exception))

    def test_every_row_and_column_makes_a_command(self):
        places = {"programs": "/p", "nsched": "/n", "source": "/s"}
        for row in self.rows:
            if "same_as" in row or row.get("native"):
                continue
            self.assertIn(row["figure"], figures.FIGURES, row["name"])
            self.assertIn("hard", row, f"{row['name']} has no oracle")
            for column in self.columns:
                why = tables.absence(row, column)
                if why and "not installed" not in why:
                    continue
                command, env = tables.command_of(row, column, places)
                for word in command + list(env.values()):
                    self.assertNotIn("{programs}", word)
                    self.assertNotIn("{seconds}", word)

    def test_the_rows_that_were_asked_for(self):
        names = [row["name"] for row in self.rows]
        self.assertEqual(sum(name.startswith("perf-") for name in names), 23)
        for name in ("numa01", "numa01-thread-alloc", "numa02", "numa02-smt", "numa02-omp", "schedbench-64", "compile"):
            self.assertIn(name, names)

    def test_absence_says_why(self):
        by_name = {c["name"]: c for c in self.columns}
        self.assertEqual(tables.absence(ROW, by_name["close"]), "no OpenMP program")
        self.assertEqual(tables.absence({**ROW, "omp": True}, by_name["close"]), None)
        self.assertIn("less than 300 MB", tables.absence(ROW, by_name["numad"]))
        missing = {**by_name["numad"], "needs": {"command": "no-such-command", "package": "nothing"}}
        self.assertEqual(tables.absence({**ROW, "ballast": 400}, missing), "no-such-command is not installed (Debian: nothing)")
        self.assertEqual(tables.absence({**ROW, "absent": {"kernel": "because"}}, by_name["kernel"]), "because")


def result_of(rows):
    return {"date": "2026-01-01", "machine": {"cpu": "c", "cpus": 2, "nodes": 1, "kernel": "6.1", "versions": {}}, "user": "nobody",
            "repeats": 3, "columns": [{"name": c["name"], "what": c["what"], "reference": c.get("reference")} for c in COLUMNS], "rows": rows}


class Shown(unittest.TestCase):
    def setUp(self):
        cells = {"none": cell(10, 10, 10), "kernel": cell(30, 30, 30), "numad": {"absent": "numad is not installed"},
                 "hard": cell(40, 40, 40), "nsched": cell(25, 25, 25, overhead_permille=12)}
        row = {**ROW, "better": "higher", "natively": False, **figures.row_figures(ROW, cells, COLUMNS)}
        void = {"none": cell(10, void="late 99"), "kernel": cell(12, void="late 98"), "numad": {"absent": "numad is not installed"},
                "hard": {}, "nsched": cell(1, daemon_acted=False)}
        other = {**ROW, "name": "second", "better": "higher", "natively": False, **figures.row_figures(ROW, void, COLUMNS)}
        same = {"name": "third", "group": "autonuma", "what": "x", "same_as": "numa02", "why": "because"}
        self.result = result_of([row, other, same, {"name": "region", "group": "native", "what": "ns", "native": {"absent": "no clang"}}])

    def test_markdown_drops_nothing(self):
        text = show.markdown(self.result)
        for words in ("absent [1]", "absent (numad is not installed)", "void (late 99)", "not run", "as numa02: because",
                      "nsched is behind kernel by 17 % (the whole run)", "| nsched | 25.0 (25.0-25.0)", "2.50x", "50 %", "1.2 %",
                      "absent (no clang)", "timing model"):
            self.assertIn(words, text)
        for block in text.split("\n\n"):
            lines = [line for line in block.splitlines() if line.startswith("|")]
            if lines and "third" not in block:
                self.assertEqual(len({line.count("|") - 2 * line.count("\\|") for line in lines}), 1, block)

    def test_terminal(self):
        text = show.terminal(self.result, ["numa02"])
        self.assertIn("nsched", text)
        self.assertNotIn("second", text)

    def test_picture(self):
        tree = xml.etree.ElementTree.fromstring(picture.svg(self.result))
        cells = tree.findall("{http://www.w3.org/2000/svg}g")
        self.assertEqual(len(cells), 2 * 3)
        words = [g.find("{http://www.w3.org/2000/svg}text").text for g in cells]
        self.assertEqual(words, ["67 %", "absent", "50 %", "void", "absent", "-"])
        self.assertEqual(picture.colour(0), "#ffffff")
        self.assertNotEqual(picture.colour(1), picture.colour(-1))

    def test_numbers(self):
        for value, text in ((None, "-"), (0, "0"), (17600.4, "17 600"), (25, "25.0"), (0.0191, "0.0191"), (1.234, "1.23"), (0.00001, "1.00e-05")):
            self.assertEqual(show.number(value), text)

    def test_native_lines(self):
        found = native.figures_in("noise\nnative: empty region, no tool: 370.5 ns  the least of 2: 5 x\nnative: start: 1.5 ms\nnative: 8 threads, cost: -0.5 %\n")
        self.assertEqual([(f["name"], f["value"], f["unit"], f["note"]) for f in found],
                         [("empty region, no tool", 370.5, "ns", "the least of 2: 5 x"), ("start", 1.5, "ms", ""), ("8 threads, cost", -0.5, "%", "")])


# Stands for the machine: nodes-run runs what is behind "--", and in-machine leaves what a job would, some tenths of a second each.
FAKE_NODES_RUN = '#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n'
FAKE_IN_MACHINE = """#!/bin/bash
results=$1
job() {
	[ ! -e "$results/$1" ] || return 0
	sleep 0.2
	mkdir "$results/.$1"
	echo "bench: work 800 seconds 8 last_work 300 last_seconds 3" >"$results/.$1/stdout"
	echo "end seconds 8 migrated 0 user 1 system 1 status 0" >"$results/.$1/watch"
	echo 0 >"$results/.$1/status"
	mv "$results/.$1" "$results/$1"
	echo "$1" >>"$results/ran"
	echo "job $1 0"
}
. "$3"
"""
FAKE_ROWS = """[default]
nodes = 4
cpus = 2
smt = 1
mib = 512
seconds = 1
model = "default"
figure = "bench"
unit = "u/s"
group = "g"
what = "w"
[[row]]
name = "one"
command = ["true"]
hard = ["x"]
"""
FAKE_COLUMNS = "".join(f'[[column]]\nname = "{n}"\nwhat = "w"\n' for n in ("none", "b", "c", "d"))
DRIVER = """import argparse, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from benchlib.runner import Bench
options = argparse.Namespace(rows=[], columns="", repeats=2, seconds=None, user="nobody", step=0.5, boot_seconds=100, fresh=False,
                             results=sys.argv[2] + "/results", build=sys.argv[2])
print(Bench(options, sys.argv[2], sys.argv[2]).run())
"""


class Resume(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="nsched-bench-test.")
        for folder in ("tests/numabox", "tests/bench/programs", "tools", ".libs"):
            os.makedirs(os.path.join(self.top, folder))
        for name, text in (("tests/numabox/nodes-run", FAKE_NODES_RUN), ("tests/bench/in-machine", FAKE_IN_MACHINE), ("rows.toml", FAKE_ROWS),
                           ("columns.toml", FAKE_COLUMNS), ("driver.py", DRIVER), ("config.status", ""), ("tools/nsched", "")):
            path = os.path.join(self.top, name)
            with open(path, "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(path, 0o755)

    def tearDown(self):
        shutil.rmtree(self.top)

    def start(self, **more):
        return subprocess.Popen([sys.executable, os.path.join(self.top, "driver.py"), HERE, self.top], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env={**os.environ, **more})

    def ran(self):
        try:
            with open(os.path.join(self.top, "results/runs/one/ran"), encoding="ascii") as file:
                return file.read().split()
        except OSError:
            return []

    def wait_for(self, jobs):
        until = time.monotonic() + 20
        while len(self.ran()) < jobs and time.monotonic() < until:
            time.sleep(0.02)

    def test_killed_and_started_again(self):
        first = self.start()
        self.wait_for(3)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        time.sleep(0.5)
        after = self.ran()
        self.assertGreaterEqual(len(after), 3)
        self.assertLess(len(after), 8, "the machine goes when the bench is killed")
        time.sleep(0.5)
        self.assertEqual(self.ran(), after, "nothing goes on after it")
        second = self.start(BENCH_WRAP="env")
        out, errors = second.communicate(timeout=60)
        self.assertEqual((out.strip(), second.returncode), ("{}", 0), errors)
        self.assertEqual(sorted(set(self.ran())), sorted(self.ran()), "nothing ran twice")
        self.assertEqual(len(self.ran()), 8)
        with open(os.path.join(self.top, "results/bench.json"), encoding="ascii") as file:
            row = json.load(file)["rows"][0]
        self.assertEqual({name: len(c["runs"]) for name, c in row["cells"].items()}, {"none": 2, "b": 2, "c": 2, "d": 2})
        for name in ("bench.md", "bench.svg"):
            self.assertTrue(os.path.exists(os.path.join(self.top, "results", name)))

    def test_two_side_by_side_take_different_rows(self):
        with open(os.path.join(self.top, "rows.toml"), "a", encoding="ascii") as file:
            file.write('[[row]]\nname = "two"\ncommand = ["true"]\nhard = ["x"]\n')
        first = self.start()
        self.wait_for(1)
        second = self.start()
        out, errors = second.communicate(timeout=60)
        self.assertEqual(out.strip(), "{'one': 'another bench is at work on it'}", errors)
        out, errors = first.communicate(timeout=60)
        self.assertEqual(first.returncode, 0, errors)
        self.assertEqual(len(self.ran()), 8)
        with open(os.path.join(self.top, "results/bench.json"), encoding="ascii") as file:
            rows = {row["name"]: row for row in json.load(file)["rows"]}
        self.assertEqual({name: len(rows[name]["cells"]["none"]["runs"]) for name in rows}, {"one": 2, "two": 2})
        self.assertEqual(sorted(os.listdir(os.path.join(self.top, "results"))), ["bench.json", "bench.md", "bench.svg", "locks", "runs"])

    def bench(self, **changes):
        options = argparse.Namespace(**{**dict(rows=[], columns="", repeats=1, seconds=None, user="nobody", step=0.5, boot_seconds=100,
                                               fresh=False, results=self.top + "/results", build=self.top), **changes})
        return Bench(options, self.top, self.top)

    def test_what_changed_is_run_anew(self):
        before = self.bench().row_keys(self.bench().rows[0])
        self.assertEqual(before, self.bench().row_keys(self.bench().rows[0]))
        longer = self.bench(seconds=2)
        self.assertNotEqual(before["b"], longer.row_keys(longer.rows[0])["b"])
        with open(os.path.join(self.top, "columns.toml"), "a", encoding="ascii") as file:
            file.write("balancing = 1\n")  # of the last one
        after = self.bench().row_keys(self.bench().rows[0])
        self.assertEqual({n for n in before if before[n] != after[n]}, {"d"})

    def test_a_machine_that_fails_does_not_hang_the_bench(self):
        with open(os.path.join(self.top, "tests/bench/in-machine"), "w", encoding="ascii") as file:
            file.write("#!/bin/sh\necho 'numabox: it broke'\nexit 125\n")
        bench = self.bench()
        with contextlib.redirect_stderr(io.StringIO()):
            reasons = bench.run()
        self.assertEqual(reasons, {"one": "the machine failed 3 times: numabox: it broke"})


if __name__ == "__main__":
    unittest.main()
