"""Runs jobs inside the machine: stages what they need, writes in-machine's file of jobs, starts the machine once for
several jobs, and tells as each one ends. What a job left is kept in the folder of results, so a run that was killed
goes on where it was."""
import glob
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

ROW_IN_KEY = ("command", "hard", "inverse", "seconds", "ballast", "large", "model", "nodes", "cpus", "smt", "mib", "shape", "distance",
              "alternate", "mark", "env", "beside", "omp", "figure")
COLUMN_IN_KEY = ("prefix", "env", "balancing", "daemon", "row", "ballast")
EXTRA_S = 2.5       # of a job beside its own time: its start, its memory, its end
EXTRA_NUMAD_S = 2.5
BOOT_S = 8          # of the machine
SLACK = 2.5         # how much longer than reckoned a boot or a job may take before it is stopped
MACHINE_FAILED = (125, 126)
SKIPPED = 77


class Places:
    """Where things are: the source, the build, the results, and a staged copy for whoever runs inside."""

    def __init__(self, source, build, results):
        self.source, self.build, self.results = source, build, results
        self.stage = None

    def built(self, name):
        """What `make` made, where libtool put it."""
        folder, base = os.path.split(name)
        hidden = os.path.join(self.build, folder, ".libs", base)
        return hidden if os.path.exists(hidden) else os.path.join(self.build, name)

    def libraries(self):
        return sorted(glob.glob(os.path.join(self.build, ".libs", "libnsched*.so*")))

    def programs(self):
        folder = os.path.join(self.build, "tests/bench/programs")
        found = glob.glob(folder + "/*") + glob.glob(folder + "/.libs/*.so")
        made = [f for f in found if os.path.isfile(f) and os.access(f, os.X_OK)]
        return sorted(f for f in made if os.path.splitext(f)[1] in ("", ".so"))

    def make_stage(self):
        """Copies in a folder that any user may enter: the ordinary user inside must be able to read them."""
        self.stage = tempfile.mkdtemp(prefix="nsched-bench.")
        os.chmod(self.stage, 0o755)
        for folder in ("tools", ".libs", "programs"):
            os.mkdir(os.path.join(self.stage, folder))
        for library in self.libraries():
            shutil.copy(library, os.path.join(self.stage, ".libs"), follow_symlinks=False)
        shutil.copy(self.built("tools/nsched"), os.path.join(self.stage, "tools/nsched"))
        for program in self.programs():
            shutil.copy(self.built(os.path.relpath(program, self.build)), os.path.join(self.stage, "programs"))
        shutil.copy(os.path.join(self.source, "tests/bench/in-machine"), self.stage)
        for script in glob.glob(os.path.join(self.source, "tests/bench/programs/*.sh")):
            shutil.copy(script, os.path.join(self.stage, "programs"))

    def drop_stage(self):
        if self.stage:
            shutil.rmtree(self.stage, ignore_errors=True)

    def names(self):
        """What stands in braces in the tables."""
        return {"programs": os.path.join(self.stage, "programs"), "nsched": os.path.join(self.stage, "tools/nsched"),
                "libraries": os.path.join(self.stage, ".libs"), "source": self.source}


def hash_of_files(paths):
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(os.path.basename(path).encode())
        with open(path, "rb") as file:
            digest.update(file.read())
    return digest.hexdigest()


class Keys:
    """Names what a figure depends on: what changed since makes a job's folder stale, and it is run anew."""

    def __init__(self, places):
        self.places, self.cache = places, {}

    def hash(self, paths):
        paths = tuple(paths)
        if paths not in self.cache:
            self.cache[paths] = hash_of_files(paths)
        return self.cache[paths]

    def key(self, row, column):
        words = [str(w) for w in row["command"]]
        mine = {os.path.basename(w) for w in words if w.startswith("{programs}/")}
        programs = [self.places.built(os.path.relpath(p, self.places.build)) for p in self.places.programs()
                    if os.path.basename(p) in mine]
        tests = os.path.join(self.places.source, "tests")
        measures = [self.places.built("tests/bench/programs/watch"), os.path.join(tests, "bench/in-machine")]
        measures += glob.glob(os.path.join(tests, "numabox/numa*"))
        parts = [{k: row[k] for k in ROW_IN_KEY if k in row}, {k: column[k] for k in COLUMN_IN_KEY if k in column},
                 self.hash(programs), self.hash(m for m in measures if os.path.exists(m))]
        if column.get("nsched"):
            parts.append(self.hash([f for f in self.places.libraries() if not os.path.islink(f)] +
                                   [self.places.built("tools/nsched")]))
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:10]


def reckoned_s(row, column):
    return row["seconds"] + EXTRA_S + (EXTRA_NUMAD_S if column.get("daemon") else 0)


def job_line(name, row, column, command, env, user, step_s):
    """A line for in-machine."""
    words = (["env"] + [f"{k}={v}" for k, v in sorted(env.items())] if env else []) + command
    most_s = reckoned_s(row, column) * SLACK + 20
    head = ["job", name, user, str(column.get("balancing", 0)), column.get("daemon", "-"), f"{step_s:g}", f"{most_s:.0f}",
            "-m" if row.get("mark") else "-"]
    return " ".join(shlex.quote(w) for w in head + words)


class Machine:
    """Starts the machine with a file of jobs. `wrap` is a command to put before each start (BENCH_WRAP)."""

    def __init__(self, places, user, step_s, wrap):
        self.places, self.user, self.step_s, self.wrap = places, user, step_s, wrap
        self.child = None

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(20)
            except subprocess.TimeoutExpired:
                self.child.kill()

    def command(self, row, most_s, results, jobs):
        """The machine goes when this program goes, whatever ends it: hence setpriv, twice, as the wrapper is between."""
        leash = ["setpriv", "--pdeathsig", "TERM"]
        box = [os.path.join(self.places.source, "tests/numabox/nodes-run"), "-t", str(row["smt"]),
               "-m", str(row["mib"]), "-w", results, "-T", f"{most_s:.0f}"]
        box += ["-S", row["shape"]] if "shape" in row else ["-n", str(row["nodes"]), "-c", str(row["cpus"])]
        box += ["-d", row["distance"]] if "distance" in row else []
        box += ["-A"] if row.get("alternate") else []
        if row["model"] != "none":
            box += ["-M", row["model"]]
        inside = ["--", os.path.join(self.places.stage, "in-machine"), results, os.path.join(self.places.stage, "programs"), jobs]
        return (leash + self.wrap if self.wrap else []) + leash + box + inside

    def run(self, row, jobs, results, on_done):
        """jobs: [(name, column, command, env)]. Returns (status, last line of what the machine said)."""
        os.makedirs(results, exist_ok=True)
        path = os.path.join(results, "jobs")
        with open(path, "w", encoding="utf-8") as file:
            for name, column, command, env in jobs:
                file.write(job_line(name, row, column, command, env, self.user, self.step_s) + "\n")
        most_s = (BOOT_S + sum(reckoned_s(row, column) for _n, column, _c, _e in jobs)) * SLACK + 30
        last = ""
        with subprocess.Popen(self.command(row, most_s, results, path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, text=True, errors="replace", cwd=self.places.stage) as self.child:
            for line in self.child.stdout:
                line = line.rstrip()
                if line.startswith("job "):
                    on_done(line.split()[1])
                elif line and not line.startswith("model "):
                    last = line
        return self.child.returncode, last


def say(text):
    print("bench: " + text, file=sys.stderr, flush=True)
