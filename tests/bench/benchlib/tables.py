"""The tables of rows and columns: read, completed, and checked, so that a typing error is told where it is."""
import difflib
import fnmatch
import os
import shutil
import tomllib

ROW_FIELDS = {
    "name": str, "group": str, "what": str, "command": list, "hard": (list, dict), "inverse": (list, dict), "absent": dict,
    "seconds": (int, float), "once": bool, "omp": bool, "ballast": int, "large": bool, "figure": str, "unit": str, "model": str,
    "nodes": int, "cpus": int, "smt": int, "mib": int, "threads": int, "mark": bool, "same_as": str, "why": str,
    "loss_least": int, "env": dict, "shape": str, "distance": str, "alternate": bool, "native": bool, "needs": dict, "beside": list, "original": str,
}
COLUMN_FIELDS = {
    "name": str, "what": str, "prefix": list, "env": dict, "balancing": int, "daemon": str, "only": str, "row": str,
    "reference": bool, "needs": dict, "nsched": bool, "ballast": bool,
}
NUMAD_LEAST_MIB = 300  # numad does not look at a smaller process


class TableError(Exception):
    """What is wrong in a table, for a person to read."""


def near(word, words):
    """', did you mean X?', or nothing"""
    found = difflib.get_close_matches(word, list(words), 1)
    return f"; did you mean {found[0]}?" if found else ""


def check_fields(what, entry, fields):
    for name, value in entry.items():
        if name not in fields:
            raise TableError(f'{what}: there is no field "{name}"{near(name, fields)}')
        kinds = fields[name] if isinstance(fields[name], tuple) else (fields[name],)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise TableError(f"{what}: {name} is {value!r}, which is no {' or '.join(k.__name__ for k in kinds)}")


def read(path):
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise TableError(f"{path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path}: {error}") from error


def unique(path, entries):
    names = [entry.get("name") for entry in entries]
    for i, name in enumerate(names):
        if not name:
            raise TableError(f"{path}: entry {i + 1} has no name")
        if name in names[:i]:
            raise TableError(f'{path}: "{name}" is there twice')


def read_columns(path):
    columns = read(path).get("column", [])
    unique(path, columns)
    for column in columns:
        check_fields(f"{path}: {column['name']}", column, COLUMN_FIELDS)
    return columns


def shape_of(what, shape):
    """How many nodes "2,2:1024,0:512" are, and how many CPUs each has on average; numabox says the rest."""
    try:
        cpus = [int(node.split(":")[0]) for node in shape.split(",")]
    except ValueError as error:
        raise TableError(f"{what}: shape is {shape!r}, which is no CPUS[:MIB],...") from error
    return len(cpus), sum(cpus) / len(cpus)


def read_rows(path):
    """All rows, each with the defaults put in."""
    table = read(path)
    default = table.get("default", {})
    rows = [{**default, **row} for row in table.get("row", [])]
    unique(path, rows)
    for row in rows:
        check_fields(f"{path}: {row['name']}", row, ROW_FIELDS)
        if "same_as" in row:
            if row["same_as"] not in [other["name"] for other in rows]:
                raise TableError(f"{path}: {row['name']}: same_as names no row: {row['same_as']}")
        elif not row.get("command"):
            raise TableError(f"{path}: {row['name']} has no command")
        if "shape" in row:
            row["nodes"], row["cpus"] = shape_of(f"{path}: {row['name']}", row["shape"])
    return rows


def chosen(entries, words, what):
    """Those that the words name; each word is a name or a pattern such as numa0*."""
    if not words:
        return entries
    for word in words:
        if not any(fnmatch.fnmatch(entry["name"], word) for entry in entries):
            names = [entry["name"] for entry in entries]
            raise TableError(f'there is no {what} "{word}"{near(word, names) or "; there are " + " ".join(names)}')
    return [entry for entry in entries if any(fnmatch.fnmatch(entry["name"], word) for word in words)]


def find_command(name):
    """Where a command is; daemons live where an ordinary user's PATH may not lead."""
    path = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
    return shutil.which(name, path=path)


def lacks(entry):
    """The reason why what an entry needs is not here, or None."""
    need = entry.get("needs")
    if need and not find_command(need["command"]):
        where = f" (Debian: {need['package']})" if "package" in need else ""
        return f"{need['command']} is not installed{where}"
    return None


def absence(row, column):
    """Why this column says nothing in this row; None where it does."""
    name = column["name"]
    if name in row.get("absent", {}):
        return row["absent"][name]
    if column.get("only") == "omp" and not row.get("omp"):
        return "no OpenMP program"
    if "row" in column and column["row"] not in row:
        return f"the row has no {column['row']} binding"
    if column.get("daemon") == "numad" and row.get("ballast", 0) < NUMAD_LEAST_MIB:
        return f"its processes hold less than {NUMAD_LEAST_MIB} MB, which numad does not look at"
    return lacks(column) or lacks(row)


def command_of(row, column, places):
    """The words to run, and their environment. `places` has what stands in braces."""
    words = list(row["command"])
    if "row" in column:
        how = row[column["row"]]
        if isinstance(how, dict):
            words = list(how["command"])
        else:
            words += how
    env = {**row.get("env", {}), **column.get("env", {})}
    if row.get("ballast") and (column.get("ballast") or row.get("large")):
        env["BENCH_BALLAST_MIB"] = str(row["ballast"])
        env["LD_PRELOAD"] = "{programs}/ballast.so"

    def put_in(word):
        for name, value in places.items():
            word = word.replace("{" + name + "}", value)
        return word.replace("{seconds}", f"{row['seconds']:g}")

    return [put_in(w) for w in column.get("prefix", []) + words], {k: put_in(v) for k, v in env.items()}
