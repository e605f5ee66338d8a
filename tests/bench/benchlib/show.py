"""The result as text: Markdown for docs/, and a short form for the terminal. Nothing is left out: a cell without figures
says why."""

PART = {"whole": "the whole run", "last": "the last third"}


# ---- numbers --------------------------------------------------------------------------------------------------------

def number(value):
    """Three digits that count."""
    if value is None:
        return "-"
    if value and abs(value) < 0.001:
        return f"{value:.2e}"
    digits = 0
    while digits < 5 and abs(value) * 10 ** digits < 100:
        digits += 1
    return f"{value:,.{digits}f}".replace(",", " ") if value else "0"


def percent(share, digits=0):
    return "-" if share is None else f"{100 * share:.{digits}f} %".replace("-0 %", "0 %")


def permille(value):
    return "-" if value is None else f"{value / 10:.0f} %"


def spread(found):
    """median (least-most)"""
    if not found:
        return "-"
    if found["n"] == 1:
        return f"{number(found['median'])} (once)"
    return f"{number(found['median'])} ({number(found['min'])}-{number(found['max'])})"


def ratio(found):
    return "-" if not found else f"{found['median']:.2f}x"


def seconds(value):
    return "-" if value is None else f"{value:.1f}"


def empty(cell):
    """What stands where there are no figures; None where there are some."""
    if "absent" in cell:
        return f"absent ({cell['absent']})"
    if cell.get("void"):
        return f"void ({cell['void']})"
    if cell.get("not_run"):
        return "not run"
    return None


def marks(cell):
    """Doubts about figures that are there."""
    words = []
    if cell.get("not_engaged"):
        words.append(f"not engaged ({cell['not_engaged']})")
    if cell.get("unsteady"):
        words.append(f"unsteady (its ratios differ by {100 * cell['spread_whole']:.0f} %)")
    voided = [run["void"] for run in cell.get("runs", {}).values() if run.get("void")]
    if voided and not cell.get("void"):
        words.append(f"{len(voided)} void ({'; '.join(sorted(set(voided)))})")
    voided = [run["void_last"] for run in cell.get("runs", {}).values() if run.get("void_last") and not run.get("void")]
    if voided:
        words.append(f"{len(voided)} void ({'; '.join(sorted(set(voided)))})")
    return "; ".join(words)


# ---- a row's own table ---------------------------------------------------------------------------------------------------

HEAD = ["column", "{unit}", "last third", "ratio", "last", "closure", "last", "local", "last", "pages moved", "converged s",
        "nsched's cost", "notes"]


def row_line(name, cell):
    why = empty(cell)
    if why:
        return [name] + ["-"] * (len(HEAD) - 2) + [why]
    cost = "-" if cell.get("overhead_permille") is None else f"{cell['overhead_permille'] / 10:.1f} %"
    return [name, spread(cell["value"]), spread(cell["last"]), ratio(cell.get("ratio_whole")), ratio(cell.get("ratio_last")),
            percent(cell.get("closure_whole")), percent(cell.get("closure_last")), permille(cell["local"]),
            permille(cell["local_last"]), number(cell["migrated"]), seconds(cell.get("converged_s")), cost, marks(cell)]


def more_line(row):
    """What the row's program says beside its figure: none's and nsched's."""
    names = sorted({n for c in row["cells"].values() for n in c.get("more", {})})
    return [f"{name}: " + ", ".join(f"{column} {number(cell['more'][name])}" for column, cell in row["cells"].items()
                                    if name in cell.get("more", {})) for name in names]


def row_table(row):
    head = [word.format(unit=row["unit"]) for word in HEAD]
    return [head] + [row_line(name, cell) for name, cell in row["cells"].items()]


def loses_line(row):
    words = [f"{l['to']} by {l['percent']:.0f} % ({PART[l['part']]})" for l in row["loses"]]
    return "nsched is behind " + ", ".join(words) + "." if words else ""


def row_notes(row):
    notes = []
    if row.get("void"):
        notes.append(f"**void: {row['void']}**")
    elif row.get("loss_percent") is not None:
        notes.append(f"by hand, the wrong way loses {row['loss_percent']:.0f} %")
    machine = f"nodes of {row['shape']} CPUs[:MiB]" if "shape" in row else f"{row['nodes']} nodes of {row['cpus']} CPUs"
    machine += f", {row['smt']} threads a core" if row["smt"] > 1 else ""
    machine += f", distances {row['distance']}" if "distance" in row else ""
    machine += ", CPUs numbered alternately" if row.get("alternate") else ""
    where = "natively" if row["natively"] else "emulated, timing model " + row["model"]
    notes.append(f"{machine}; {where}; {row['seconds']:g} s a run; {row['better']} is better")
    if row.get("original"):
        notes.append(f"after {row['original']}")
    return notes


def markdown_table(lines):
    text = ["| " + " | ".join(lines[0]) + " |", "|" + "---|" * len(lines[0])]
    return text + ["| " + " | ".join(str(word).replace("|", "\\|") for word in line) + " |" for line in lines[1:]]


def plain_table(lines):
    # the last column may be long: it is not filled up
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]) - 1)]
    return ["  ".join([line[0].ljust(widths[0])] + [w.rjust(n) for w, n in zip(line[1:-1], widths[1:])] + [line[-1]]).rstrip()
            for line in lines]


# ---- all rows ----------------------------------------------------------------------------------------------------------------

class Reasons:
    """Numbers for the reasons of the cells without figures, explained below the table."""

    def __init__(self):
        self.all = []

    def number(self, why):
        if why not in self.all:
            self.all.append(why)
        return self.all.index(why) + 1

    def cell(self, cell):
        why = empty(cell)
        if why:
            return f"{why.split()[0]} [{self.number(why)}]" if "(" in why else why
        text = f"{ratio(cell.get('ratio_whole'))}, {percent(cell.get('closure_last'))}"
        if cell.get("not_engaged"):
            text = f"not engaged ({text})"
        return text + (" ~" if cell.get("unsteady") else "")


def overview(result):
    names, reasons = [c["name"] for c in result["columns"]], Reasons()
    text, groups = [], []
    for row in result["rows"]:
        if row["group"] not in groups:
            groups.append(row["group"])
    for group in groups:
        lines = [["row"] + names + ["nsched is behind"]]
        for row in result["rows"]:
            if row["group"] != group or "native" in row:
                continue
            if "same_as" in row:
                lines.append([row["name"], f"as {row['same_as']}: {row['why']}"] + [""] * len(names))
                continue
            behind = ", ".join(sorted({l["to"] for l in row["loses"]})) or "-"
            void = "**void** " if row.get("void") else ""
            lines.append([void + row["name"]] + [reasons.cell(row["cells"][n]) for n in names] + [behind])
        if len(lines) > 1:
            text += [f"### {group}", ""] + markdown_table(lines) + [""]
    text += [f"[{i + 1}] {why}  " for i, why in enumerate(reasons.all)]
    return text + [""]


def losses(result):
    lines = []
    for row in result["rows"]:
        if row.get("loses") and not row.get("void"):
            lines.append(f"- **{row['name']}**: {loses_line(row)}")
    return lines or ["- none"]


def native_part(result):
    text = []
    for row in result["rows"]:
        native = row.get("native")
        if native is None:
            continue
        text += [f"### {row['name']}: {row['what']}", ""]
        if "absent" in native:
            text += [f"absent ({native['absent']})", ""]
            continue
        text += markdown_table([["what", "value", "unit", ""]] +
                               [[f["name"], number(f["value"]), f["unit"], f["note"]] for f in native["figures"]]) + [""]
    return ["## Native, on the machine itself, without the model", ""] + text if text else []


def about(result):
    machine = result["machine"]
    versions = ", ".join(version if version.lower().startswith(name) else f"{name}: {version}"
                         for name, version in machine["versions"].items() if version)
    modelled = any(not row.get("natively", True) for row in result["rows"] if "cells" in row)
    text = [f"Date: {result['date']}. Host: {machine['cpu']}, {machine['cpus']} CPUs, {machine['nodes']} NUMA node(s), Linux "
            f"{machine['kernel']}. {versions}.", ""]
    if modelled:
        text += ["**Every figure below that is not under \"Native\" comes from the timing model of the emulated machine**, not from "
                 "hardware: tests/numabox/README.md says what the model has and what it lacks.", ""]
    return text + [
        f"{result['repeats']} repeats, as user {result['user']}, the columns of a repeat one after another, their order turned from "
        "repeat to repeat, in one boot as far as they were run together (what was run later, or again, in another boot of the same "
        "image). Ratio: how many times as fast as none, the median of the repeats. Closure: the share of the gap between none "
        "and hard that was closed. Migrated pages are charged 3 us of model time each, shared among the threads. "
        "A run for which the host was too busy (late_permille above 60) is void.", ""]


def legend(result):
    return ["## Columns", ""] + markdown_table([["column", "what"]] + [[c["name"], c["what"]] for c in result["columns"]]) + [""]


def details(result):
    text = ["## Row by row", ""]
    for row in result["rows"]:
        if "cells" not in row:
            continue
        text += [f"### {row['name']}: {row['what']}", ""] + markdown_table(row_table(row)) + [""]
        text += [note + "  " for note in row_notes(row) + more_line(row) + [loses_line(row)] if note] + [""]
    return text


def markdown(result):
    text = ["# The bench: nsched beside what a user would pick instead", ""] + about(result) + legend(result)
    text += ["## Ratio to none over the whole run, and closure over the last third", "",
             "`~`: repeats differ by more than 10 %.", ""] + overview(result)
    text += ["## Where nsched is behind", ""] + losses(result) + [""] + native_part(result) + details(result)
    return "\n".join(text) + "\n"


def terminal(result, names):
    text = []
    for row in result["rows"]:
        if row["name"] not in names:
            continue
        text += ["", f"{row['name']}: {row['what']}"]
        if "same_as" in row:
            text.append(f"as {row['same_as']}: {row['why']}")
        elif "native" in row:
            native = row["native"]
            text += [f"absent ({native['absent']})"] if "absent" in native else plain_table(
                [["what", "value", "unit", ""]] + [[f["name"], number(f["value"]), f["unit"], f["note"]] for f in native["figures"]])
        else:
            text += plain_table(row_table(row))
            text += [note.replace("**", "") for note in row_notes(row) + more_line(row) + [loses_line(row)] if note]
    return "\n".join(text)
