"""What the runs say: from the folder that a job left (see in-machine) to figures. Numbers in, numbers out; only
`read_run` touches files. Times are the machine's seconds; with the timing model, model seconds times `slow`."""
import glob
import json
import os
import re
import statistics

LATE_MOST = 60             # per mille: above, the emulation could not keep up and its timing does not count
PAGE_MODEL_S = 3e-6        # what a migrated page is charged: kernel code is free in the model
SLOW_PER_CPU = 12.5        # the model's default: wall seconds for a model second, for each CPU (tests/numabox)
CONVERGED = 0.9            # of the oracle's local share: converged once it stays above
STAYED_LEAST = 3           # steps that it must stay above
SPREAD_MOST = 0.10         # repeats whose ratios differ by more are told
GAP_LEAST = 0.05           # a gap between none and hard below this share of none is nothing to be closed
LINE = 64

MODEL_LINE = re.compile(r"^model (before|lap|end): wall_s ([\d.]+) .*misses (\d+) local_permille (\d+) late_permille (\d+)")
BENCH_LINE = re.compile(r"^bench: work (\d+) seconds ([\d.]+) last_work (\d+) last_seconds ([\d.]+)", re.M)
TOOK_LINE = re.compile(r"^bench: took ([\d.]+)", re.M)


def slow_of(row):
    """Wall seconds for one model second."""
    for option in row["model"].split(","):
        if option.startswith("slow="):
            return float(option[5:])
    return SLOW_PER_CPU * row["nodes"] * row["cpus"]


# ---- laps -------------------------------------------------------------------------------------------------------------

def laps_of(model_text, watch_text):
    """The measured part of a run, step by step: [{t, wall_s, misses, local, late, migrated}], t at the step's end.
    It begins where the model was turned on and ends where it was turned off; the lines of watch say how many pages
    had been migrated at each lap."""
    migrated = [int(m) for m in re.findall(r"^lap \d+ seconds [\d.]+ migrated (\d+)", watch_text, re.M)]
    end = re.search(r"^end .* migrated (\d+)", watch_text, re.M)
    migrated_end = int(end.group(1)) if end else (migrated[-1] if migrated else 0)
    laps, seen, base, t, running = [], 0, 0, 0.0, False
    for line in model_text.splitlines():
        match = MODEL_LINE.match(line)
        if not match:
            continue
        kind, wall_s = match.group(1), float(match.group(2))
        if kind == "before":
            laps, t, running = [], 0.0, True
            base = migrated[seen - 1] if 0 < seen <= len(migrated) else 0
            continue
        now = migrated_end
        if kind == "lap":
            now = migrated[seen] if seen < len(migrated) else migrated_end
            seen += 1
        if running and wall_s > 0:
            t += wall_s
            laps.append({"t": round(t, 3), "wall_s": wall_s, "misses": int(match.group(3)), "local": int(match.group(4)),
                         "late": int(match.group(5)), "migrated": max(0, now - base)})
        running = running and kind == "lap"
    return laps


def mean(laps, field, weight):
    total = sum(lap[weight] for lap in laps)
    return sum(lap[field] * lap[weight] for lap in laps) / total if total else None


def while_working(laps, seconds):
    """The laps up to the end of the work, of a program that says for how long it worked, but not when: of all stretches of
    so many seconds that with most lines. Before it and after it, the program and what is preloaded start and end."""
    first, wall, misses, most, end = 0, 0.0, 0, -1, 0
    for i, lap in enumerate(laps):
        wall, misses = wall + lap["wall_s"], misses + lap["misses"]
        while first < i and wall - laps[first]["wall_s"] >= seconds:
            wall, misses, first = wall - laps[first]["wall_s"], misses - laps[first]["misses"], first + 1
        if misses > most:
            most, end = misses, i + 1
    return laps[:end]


def last_third(laps, seconds):
    """Of so many seconds up to the end."""
    if not laps:
        return []
    begin = laps[-1]["t"] - seconds / 3
    return [lap for lap in laps if lap["t"] - lap["wall_s"] / 2 >= begin]


def sums(laps):
    """local share and lateness per mille, lines missed a second"""
    wall = sum(lap["wall_s"] for lap in laps)
    return {"local": mean(laps, "local", "misses"), "late": mean(laps, "late", "wall_s"),
            "misses_per_s": sum(lap["misses"] for lap in laps) / wall if wall else None}


def converged_s(laps, goal_permille):
    """From when on the local share stays at the goal, None if never. What is only seen at the very end counts for nothing."""
    since, stayed = None, 0
    for lap in laps:
        if lap["misses"] and lap["local"] < goal_permille:
            since, stayed = None, 0
        elif since is None:
            since, stayed = lap["t"] - lap["wall_s"], 1
        else:
            stayed += 1
    return since if stayed >= STAYED_LEAST else None


# ---- what a program printed ---------------------------------------------------------------------------------------------

def read_bench(out, _watch, _last):
    """{value, last}; of a program of ours: units of work in a second, or seconds"""
    match = BENCH_LINE.search(out)
    if match:
        work, seconds, last_work, last_seconds = (float(g) for g in match.groups())
        return {"value": work / seconds, "last": last_work / last_seconds if last_seconds > 0 else None}
    match = TOOK_LINE.search(out)
    return {"value": float(match.group(1)), "last": None} if match else None


def perf_numa_s(out):
    """For how long perf's threads worked; None where it does not say so."""
    seconds = re.search(r"([\d.]+)\s+secs average thread-runtime", out)
    return float(seconds.group(1)) if seconds and float(seconds.group(1)) > 0 else None


def read_perf_numa(out, watch, last):
    """GB/s; "GB/sec total speed" has three decimals only, too few. The last third by the model's count of lines. An oracle
    of ours that does the same work tells KiB."""
    ours = read_bench(out, watch, last)
    if ours:
        return {name: rate and rate * 1024 / 1e9 for name, rate in ours.items()}
    gb = re.search(r"([\d.]+)\s+GB data processed, total", out)
    seconds = perf_numa_s(out)
    if not gb or not seconds:
        return None
    speed = last["misses_per_s"]
    return {"value": float(gb.group(1)) / seconds, "last": speed * LINE / 1e9 if speed else None}


def read_hackbench(out, _watch, _last):
    match = re.search(r"(?:^Time:|Total time:)\s+([\d.]+)", out, re.M)
    return {"value": float(match.group(1)), "last": None} if match else None


def read_watch(_out, watch, _last):
    """The whole command's time, for programs that say nothing themselves."""
    match = re.search(r"^end seconds ([\d.]+)", watch, re.M)
    return {"value": float(match.group(1)), "last": None} if match else None


# name: (reader, whether more is better)
FIGURES = {
    "bench": (read_bench, True),
    "seconds": (read_bench, False),
    "perf-numa": (read_perf_numa, True),
    "hackbench": (read_hackbench, False),
    "watch": (read_watch, False),
}


def charged(value, more_is_better, seconds, migrated, row):
    """The figure with the migrated pages' time put in: shared among the threads that work, as the faults are."""
    if value is None or not migrated or row.get("native"):
        return value
    threads = row.get("threads") or row["nodes"] * row["cpus"]
    factor = 1 + migrated * PAGE_MODEL_S * slow_of(row) / threads / seconds
    return value / factor if more_is_better else value * factor


# ---- a run --------------------------------------------------------------------------------------------------------------

def extras(out):
    """More that a program says of itself: lines "bench-more: NAME VALUE"."""
    return {name: float(value) for name, value in re.findall(r"^bench-more: (\S+) ([\d.]+)", out, re.M)}


def overhead_of(reports):
    """nsched's own share of CPU time, per mille, of the process that it served longest; and what it moved."""
    served = [r for r in reports if r.get("overhead_permille") is not None]
    if not served:
        return {}
    longest = max(served, key=lambda r: r.get("run_s") or 0)
    return {"overhead_permille": longest["overhead_permille"],
            "thread_moves": sum(r.get("thread_moves", 0) for r in served),
            "moved_bytes": sum(r.get("moved_bytes", 0) for r in served),
            "states": sorted({r.get("state", "?") for r in served})}


def daemon_acted(log):
    """Whether numad's log shows that it put a process on other nodes than it was on."""
    return any(before != after for before, after in re.findall(r"move from nodes \((.*?)\) to nodes \((.*?)\)", log))


def figures_of(row, texts, reports, status):
    """All figures of one run, from what it left. `void` says why its timing does not count."""
    out, watch = texts.get("stdout", "") + "\n" + texts.get("stderr", ""), texts.get("watch", "")
    run = {"status": status}
    if texts.get("impossible"):
        return {**run, "void": texts["impossible"].strip()}
    laps = laps_of(texts.get("model", ""), watch)
    worked_s = perf_numa_s(out) if row["figure"] == "perf-numa" else None
    laps = while_working(laps, worked_s) if worked_s else laps
    worked_s = worked_s or (laps[-1]["t"] if laps else 0)
    whole, last = sums(laps), sums(last_third(laps, worked_s))
    reader, more = FIGURES[row["figure"]]
    read = reader(out, watch, last)
    end = re.search(r"^end seconds ([\d.]+) migrated (\d+) user ([\d.]+) system ([\d.]+)", watch, re.M)
    if status != 0 or read is None or end is None:
        tail = [line for line in out.splitlines() if line.strip()][-1:]
        return {**run, "void": f"the program failed with {status}: {''.join(tail)[:120]}", "failed": True}
    seconds = worked_s or float(end.group(1))
    migrated = laps[-1]["migrated"] if laps else int(end.group(2))
    third = [lap["migrated"] for lap in laps if lap["t"] <= laps[-1]["t"] - seconds / 3]
    migrated_last = migrated - third[-1] if third else None
    run.update(value_raw=read["value"], value=charged(read["value"], more, seconds, migrated, row), last_raw=read["last"],
               last=charged(read["last"], more, seconds / 3, migrated_last, row), seconds=seconds, migrated=migrated,
               migrated_last=migrated_last, local=whole["local"], local_last=last["local"], late=whole["late"],
               late_last=last["late"], user_s=float(end.group(3)), system_s=float(end.group(4)),
               laps=[[lap["t"], lap["local"], lap["late"], lap["migrated"]] for lap in laps], **overhead_of(reports))
    more_said = extras(out)
    if more_said:
        run["more"] = more_said
    if "numad.log" in texts:
        run["daemon_acted"] = daemon_acted(texts["numad.log"])
    if whole["late"] is not None and whole["late"] > LATE_MOST:
        run["void"] = f"late {whole['late']:.0f}"
    if last["late"] is not None and last["late"] > LATE_MOST:
        run["void_last"] = f"late {last['late']:.0f} in the last third"
    return run


def read_run(row, folder):
    """The figures of the job that left this folder; None where there is none."""
    if not os.path.isdir(folder):
        return None
    texts = {}
    for name in ("stdout", "stderr", "watch", "model", "numad.log", "status", "impossible"):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                texts[name] = file.read()
        except OSError:
            pass
    reports = []
    for path in sorted(glob.glob(os.path.join(folder, "report*.json"))):
        try:
            with open(path, encoding="utf-8") as file:
                reports.append(json.load(file))
        except (OSError, ValueError):
            pass
    return figures_of(row, texts, reports, int(texts.get("status", "1") or 1))


# ---- a cell: all repeats of a row and a column ----------------------------------------------------------------------------

def middle(values):
    values = [v for v in values if v is not None]
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "n": len(values)}


def speed(value, base, more_is_better):
    """How many times as fast as the base; above 1 is better, whatever the unit."""
    if not value or not base:
        return None
    return value / base if more_is_better else base / value


def closure(value, none, hard):
    """The share of the gap between none and hard that was closed; None where there is no gap to speak of. The oracle is
    not better than none by definition: where it is not, there was nothing to gain."""
    if value is None or not none or hard is None or abs(hard - none) < GAP_LEAST * none:
        return None
    return (value - none) / (hard - none)


def ratios(cell, base, field, void, more):
    """Each repeat's to the base's repeat of the same number: in the same boot, where both were run together."""
    found = []
    for repeat, run in cell["runs"].items():
        other = base["runs"].get(repeat) if base else None
        if other and not run.get("void") and not other.get("void") and not run.get(void) and not other.get(void):
            found.append(speed(run.get(field), other.get(field), more))
    return [r for r in found if r is not None]


def good_runs(cell):
    return [run for run in cell["runs"].values() if not run.get("void")]


def add_own(cell):
    """What a cell says by itself."""
    good = good_runs(cell)
    cell["value"] = middle([run["value"] for run in good])
    cell["last"] = middle([run["last"] for run in good if not run.get("void_last")])
    for field in ("local", "local_last", "migrated", "migrated_last", "late", "overhead_permille", "system_s", "user_s"):
        found = middle([run.get(field) for run in good])
        cell[field] = found["median"] if found else None
    names = sorted({name for run in good for name in run.get("more", {})})
    cell["more"] = {name: middle([run["more"].get(name) for run in good if "more" in run])["median"] for name in names}
    if not good and "absent" not in cell:
        reasons = sorted({run["void"] for run in cell["runs"].values()}) or ["not run"]
        cell["not_run" if not cell["runs"] else "void"] = "; ".join(reasons)
    if good and any(run.get("daemon_acted") is False for run in good):
        acted = sum(bool(run.get("daemon_acted")) for run in good)
        cell["not_engaged"] = f"its log shows an action in {acted} of {len(good)} runs"


def add_relative(cell, none, hard, more):
    """What it says beside none and hard."""
    for field, name, void in (("value", "whole", "void"), ("last", "last", "void_last")):
        found = ratios(cell, none, field, void, more)
        ratio = middle(found)
        cell["ratio_" + name] = ratio
        if ratio and len(found) > 1:
            cell["spread_" + name] = max(found) / min(found) - 1
        mine, base, best = (c and c.get(field) and c[field]["median"] for c in (cell, none, hard))
        cell["closure_" + name] = closure(mine, base, best)
    cell["unsteady"] = (cell.get("spread_whole") or 0) > SPREAD_MOST
    goal = hard and hard.get("local_last")
    if goal:
        times = [converged_s([dict(t=t, wall_s=0.0, misses=1, local=local) for t, local, _l, _m in run["laps"]],
                             CONVERGED * goal) for run in good_runs(cell)]
        cell["converged"] = sum(t is not None for t in times)
        found = middle(times)
        cell["converged_s"] = found["median"] if found and found["n"] * 2 > len(times) else None


def loses_to(cells, columns):
    """Which competitors nsched is behind, by more than repeats differ: [(column, per cent)], for whole and last third."""
    mine = cells.get("nsched")
    found = []
    for column in columns:
        other = cells.get(column["name"])
        if column["name"] == "nsched" or not other or (column.get("reference") and column["name"] != "none"):
            continue
        if other.get("not_engaged"):
            continue
        for part in ("whole", "last"):
            own, its = ((c or {}).get("ratio_" + part) for c in (mine, other))
            if own and its and its["median"] > own["median"] * (1 + GAP_LEAST):
                found.append({"to": column["name"], "part": part,
                              "percent": round(100 * (1 - own["median"] / its["median"]), 1)})
    return found


def row_figures(row, cells, columns):
    """Completes the cells of a row ({column: {"runs": {repeat: run}} or {"absent": why}}) and says what holds for all."""
    more = FIGURES[row["figure"]][1]
    for cell in cells.values():
        cell.setdefault("runs", {})
        add_own(cell)
    none, hard = cells.get("none"), cells.get("hard")
    for cell in cells.values():
        add_relative(cell, none, hard, more)
    result = {"cells": cells, "loses": loses_to(cells, columns), "void": None}
    if row.get("loss_least"):
        worst, best = ((cells.get(n) or {}).get("value") for n in ("inverse", "hard"))
        loss = worst and best and 100 * (1 - speed(worst["median"], best["median"], more))
        result["loss_percent"] = loss
        if loss is None or loss < row["loss_least"]:
            result["void"] = f"by hand, the wrong way loses {'?' if loss is None else f'{loss:.0f}'} %, and not {row['loss_least']} %"
    return result
