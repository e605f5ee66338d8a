"""The rows that are measured on this machine, without the emulated one: a command that prints its figures as lines
"native: NAME: VALUE UNIT", and what it says beside them."""
import json
import os
import re
import subprocess

from . import boot, tables

LINE = re.compile(r"^native: (.+?): (-?[\d.]+) (\S+)(?: +(.*))?$", re.M)


def figures_in(text):
    return [{"name": name, "value": float(value), "unit": unit, "note": note or ""} for name, value, unit, note in LINE.findall(text)]


def run(row, folder, places, wrap):
    """Runs it, if it is not there already. The reason why there is nothing, or None."""
    path = os.path.join(folder, "native.json")
    if "figures" in (read(folder) or {"native": {}})["native"]:
        return None
    why = tables.lacks(row)
    if why:
        return keep(folder, {"absent": why})
    command = [word.replace("{source}", places.source).replace("{programs}", places.names()["programs"]) for word in row["command"]]
    boot.say(f"{row['name']}: {row['what']}")
    done = subprocess.run(wrap + command, cwd=places.build, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    found = figures_in(done.stdout)
    if not found:
        last = [line for line in done.stdout.splitlines() if line.strip()][-1:]
        return keep(folder, {"absent": f"ended with {done.returncode}: {''.join(last)[:200]}"})
    keep(folder, {"figures": found, "status": done.returncode})
    return None


def keep(folder, what):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "native.json"), "w", encoding="utf-8") as file:
        json.dump(what, file)
    return what.get("absent")


def read(folder):
    """What is there of a row, None where it was not run."""
    try:
        with open(os.path.join(folder, "native.json"), encoding="utf-8") as file:
            return {"native": json.load(file)}
    except OSError:
        return None
