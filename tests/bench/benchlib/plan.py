"""Which jobs are still to be run, and in which order. Pure: what is there is told by a function."""

TRIES = 3  # of a job whose timing did not count, the first one included


def rotated(columns, repeat, repeats):
    """The order of the columns turns with the repeats, so that none is always first or always after the same one."""
    if not columns:
        return []
    shift = repeat * max(1, len(columns) // max(1, repeats)) % len(columns)
    turned = columns[shift:] + columns[:shift]
    return turned[::-1] if repeat % 2 else turned


def job_name(column, key, repeat, attempt):
    return f"{column}-{key}.{repeat}.{attempt}"


def attempts(read, column, key, repeat):
    """The runs of one repeat that are there, first try first. `read` gives the figures of a job by name, or None."""
    found = []
    for attempt in range(TRIES):
        run = read(job_name(column, key, repeat, attempt))
        if run is None:
            break
        found.append(run)
    return found


def counted(found):
    """The run that stands for the repeat: the first that counts, else the last; None where there is none."""
    for run in found:
        if not run.get("void"):
            return run
    return found[-1] if found else None


def pending(found):
    """Is there anything to run? What failed is not tried again: it is no fault of the host's."""
    if any(not run.get("void") or run.get("failed") or "kernel.numa_balancing" in run["void"] for run in found):
        return False
    return len(found) < TRIES


def jobs_left(columns, keys, repeats, read):
    """[(repeat, column, attempt)] in the order in which they are to be run."""
    left = []
    for repeat in range(repeats):
        for column in rotated(columns, repeat, repeats):
            found = attempts(read, column, keys[column], repeat)
            if pending(found):
                left.append((repeat, column, len(found)))
    return sorted(left, key=lambda job: job[2] > 0)  # first everything once, then what did not count


def groups(left):
    """First tries by repeats, then what is to be tried again, of all repeats."""
    found = {}
    for job in left:
        found.setdefault((job[2] > 0, 0 if job[2] else job[0]), []).append(job)
    return list(found.values())


def next_boot(left, cost_s, most_s):
    """What one start of the machine takes: a repeat as far as it fits, so that columns that are compared ran in the same
    boot; and further ones, each if it fits whole."""
    boot, sum_s = [], 0.0
    for group in groups(left):
        if boot and sum_s + sum(cost_s(column) for _r, column, _a in group) > most_s:
            break
        for repeat, column, attempt in group:
            if boot and sum_s + cost_s(column) > most_s:
                return boot
            boot.append((repeat, column, attempt))
            sum_s += cost_s(column)
    return boot
