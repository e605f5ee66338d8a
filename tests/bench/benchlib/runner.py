"""The bench as a whole: which rows and columns there are, what is to be run of them, and what it comes to."""
import contextlib
import datetime
import fcntl
import json
import os
import platform
import shlex
import subprocess
import time

from . import boot, figures, native, picture, plan, show, tables

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
SOURCE = os.path.dirname(os.path.dirname(HERE))
BOOT_MOST_S = 140    # of jobs in one start of the machine: machines that are shared lend it for minutes
BOOTS_FAILED_MOST = 2


def first_line(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip().splitlines()[0] if done.stdout.strip() else None


def cpu_model():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.machine()


def machine_and_versions(places):
    commands = {"nsched": [places.built("tools/nsched"), "--version"], "qemu": ["qemu-system-x86_64", "--version"],
                "clang": ["clang", "--version"], "gcc": ["gcc", "--version"], "perf": ["perf", "--version"],
                "numad": ["numad", "-V"]}
    versions = {name: first_line(command) for name, command in commands.items()}
    versions["libnsched, sha256"] = boot.hash_of_files([f for f in places.libraries() if not os.path.islink(f)])[:16]
    return {"cpu": cpu_model(), "cpus": os.cpu_count(), "kernel": platform.release(), "nodes": nodes_here(), "versions": versions}


def nodes_here():
    found = 0
    for i in range(1024):
        try:
            with open(f"/sys/devices/system/node/node{i}/cpulist", encoding="ascii") as file:
                found += bool(file.read().strip())
        except OSError:
            break
    return max(found, 1)


class Bench:
    def __init__(self, options, source=SOURCE, data=HERE):
        self.options = options
        build = os.path.realpath(options.build or os.getcwd())
        if not os.path.exists(os.path.join(build, "config.status")):
            raise tables.TableError(f"nothing is built in {build}: call it where nsched was built, or with --build")
        results = os.path.realpath(options.results or os.path.join(build, "tests/bench/results"))
        self.places = boot.Places(source, build, results)
        self.keys = boot.Keys(self.places)
        self.columns = tables.read_columns(os.path.join(data, "columns.toml"))
        self.all_rows = tables.read_rows(os.path.join(data, "rows.toml"))
        self.rows = tables.chosen(self.all_rows, options.rows, "row")
        self.chosen_columns = tables.chosen(self.columns, [w for w in options.columns.split(",") if w], "column")
        if options.seconds:
            self.rows = [{**row, "seconds": options.seconds} for row in self.rows]
        self.machine, self.wrap = None, shlex.split(os.environ.get("BENCH_WRAP", ""))
        os.makedirs(results, exist_ok=True)

    # ---- what is there -----------------------------------------------------------------------------------------------

    def folder(self, row):
        return os.path.join(self.places.results, "runs", row["name"])

    def reader(self, row):
        return lambda name: figures.read_run(row, os.path.join(self.folder(row), name))

    def row_keys(self, row):
        return {c["name"]: self.keys.key(row, c) for c in self.columns}

    def engaged_columns(self, row):
        return [c["name"] for c in self.chosen_columns if not tables.absence(row, c)]

    def cells(self, row):
        keys, read, cells = self.row_keys(row), self.reader(row), {}
        for column in self.columns:
            why = tables.absence(row, column)
            if why:
                cells[column["name"]] = {"absent": why}
                continue
            found = {r: plan.counted(plan.attempts(read, column["name"], keys[column["name"]], r)) for r in range(self.options.repeats)}
            cells[column["name"]] = {"runs": {str(r): run for r, run in found.items() if run}}
        return cells

    def row_result(self, row):
        result = {k: row[k] for k in ("name", "group", "what", "original", "unit", "model", "nodes", "cpus", "smt", "shape", "distance", "alternate",
                                       "seconds") if k in row}
        if "same_as" in row:
            return {**result, "same_as": row["same_as"], "why": row.get("why", "")}
        if row.get("native"):
            read = native.read(self.folder(row))
            return {**result, **read} if read else None
        cells = self.cells(row)
        if not any(c.get("runs") for c in cells.values()):
            return None
        result["better"] = "higher" if figures.FIGURES[row["figure"]][1] else "lower"
        result["natively"] = nodes_here() > 1 and os.environ.get("NSCHED_NUMABOX", "auto") != "always"
        return {**result, **figures.row_figures(row, cells, self.columns)}

    # ---- running -----------------------------------------------------------------------------------------------------

    def run_boot(self, row, jobs):
        by_name = {c["name"]: c for c in self.columns}
        keys, names = self.row_keys(row), {}
        lines = []
        for repeat, column, attempt in jobs:
            name = plan.job_name(column, keys[column], repeat, attempt)
            names[name] = (column, repeat)
            lines.append((name, by_name[column], *tables.command_of(row, by_name[column], self.places.names())))

        def on_done(name):
            run = figures.read_run(row, os.path.join(self.folder(row), name)) or {}
            column, repeat = names.get(name, ("?", -1))
            value = f"{run['value']:.4g} {row['unit']}" if run.get("value") is not None else ""
            void = f"void ({run['void']})" if run.get("void") else ""
            boot.say(f"{row['name']} {column} {repeat + 1}: {' '.join(w for w in (value, void) if w)}")

        return self.machine.run(row, lines, self.folder(row), on_done)

    def run_row(self, row):
        """Runs what is missing. The reason why it had to stop, or None."""
        by_name = {c["name"]: c for c in self.columns}
        failed = 0
        while True:
            left = plan.jobs_left(self.engaged_columns(row), self.row_keys(row), self.options.repeats, self.reader(row))
            if not left:
                return None
            jobs = plan.next_boot(left, lambda column: boot.reckoned_s(row, by_name[column]), self.options.boot_seconds)
            boot.say(f"{row['name']}: {len(left)} runs left, now {len(jobs)}")
            status, last = self.run_boot(row, jobs)
            if status == boot.SKIPPED:
                return last
            done = [j for j in jobs if os.path.isdir(os.path.join(self.folder(row), plan.job_name(j[1], self.row_keys(row)[j[1]], j[0], j[2])))]
            if len(done) < len(jobs):
                failed += 1
                boot.say(f"{row['name']}: the machine ended with {status} after {len(done)} of {len(jobs)} runs: {last}")
                if failed > BOOTS_FAILED_MOST:
                    return f"the machine failed {failed} times: {last}"

    @contextlib.contextmanager
    def claim(self, row):
        """Whether the row is ours: several benches may work side by side in one folder of results, each on rows that no
        other has taken. The kernel lets go of a claim when its bench ends, however it ends."""
        locks = os.path.join(self.places.results, "locks")
        os.makedirs(locks, exist_ok=True)
        with open(os.path.join(locks, row["name"]), "w", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True

    def put_aside(self, row):
        folder = self.folder(row)
        if os.path.isdir(folder):
            os.rename(folder, f"{folder}.aside-{int(time.time())}")

    def run_claimed(self, row):
        """All that is missing of a row that is ours. The reason why it is not complete, or None."""
        if self.options.fresh:
            self.put_aside(row)
        if row.get("native"):
            return native.run(row, self.folder(row), self.places, self.wrap)
        return self.run_row(row)

    def run(self):
        self.machine = boot.Machine(self.places, self.options.user, self.options.step, self.wrap)
        self.places.make_stage()
        reasons = {}
        try:
            for row in self.rows:
                if "same_as" in row:
                    continue
                with self.claim(row) as ours:
                    if ours:
                        reasons[row["name"]] = self.run_claimed(row)
                        self.write()
                    else:
                        reasons[row["name"]] = "another bench is at work on it"
        finally:
            self.machine.stop()
            self.places.drop_stage()
        return {name: why for name, why in reasons.items() if why}

    # ---- what it comes to ----------------------------------------------------------------------------------------------

    def write(self):
        """The three files, of all rows that there is something of."""
        chosen = {row["name"]: row for row in self.rows}
        rows = [row for row in (self.row_result(chosen.get(row["name"], row)) for row in self.all_rows) if row]
        names = [row["name"] for row in rows]
        result = {"date": datetime.date.today().isoformat(), "machine": machine_and_versions(self.places),
                  "user": self.options.user, "repeats": self.options.repeats,
                  "columns": [{k: c.get(k) for k in ("name", "what", "reference")} for c in self.columns],
                  "rows": [row for row in rows if row.get("same_as", row["name"]) in names]}
        for name, text in (("bench.json", json.dumps(result, indent=1)), ("bench.md", show.markdown(result)),
                           ("bench.svg", picture.svg(result))):
            path = os.path.join(self.places.results, name)
            new = f"{path}.{os.getpid()}"  # another bench may write its own at the same time
            with open(new, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(new, path)
        return result
