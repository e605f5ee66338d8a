"""The picture: closure of the gap between none and hard binding, over the last third, for each row and column."""
from html import escape

CELL_W, CELL_H, LEFT, TOP, MARGIN = 74, 22, 210, 74, 14
GREY, INK = "#e8e8e8", "#222222"
FONT = 'font-family="Helvetica, Arial, sans-serif"'


def mix(a, b, share):
    return "#" + "".join(f"{round(x + (y - x) * share):02x}" for x, y in zip(a, b))


def colour(closure):
    """White at 0, green at 100 % and beyond, red at -100 % and below."""
    white, green, red = (255, 255, 255), (68, 160, 90), (214, 92, 84)
    return mix(white, green if closure >= 0 else red, min(1.0, abs(closure)))


def shown(row, name):
    """(text, colour, explanation) of a cell"""
    cell = row["cells"].get(name)
    if cell is None or "absent" in cell:
        return "absent", GREY, (cell or {}).get("absent", "")
    if cell.get("void"):
        return "void", GREY, cell["void"]
    if cell.get("not_run"):
        return "not run", GREY, ""
    closure = cell.get("closure_last")
    if closure is None:
        found = cell.get("ratio_whole")
        return (f"{found['median']:.2f}x" if found else "-"), GREY, "no gap to be closed: ratio to none"
    text = f"{100 * closure:.0f} %".replace("-0 %", "0 %")
    if cell.get("not_engaged"):
        return "not eng.", GREY, f"{cell['not_engaged']}; {text}"
    return text, colour(closure), "closure over the last third"


def text_at(x, y, words, size=11, anchor="middle", weight="normal"):
    return (f'<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{INK}" {FONT}>'
            f"{escape(words)}</text>")


def svg(result):
    names = [c["name"] for c in result["columns"] if c["name"] not in ("none", "hard")]
    rows = [row for row in result["rows"] if "cells" in row]
    width, parts, y, group = LEFT + CELL_W * len(names) + MARGIN, [], TOP, None
    for row in rows:
        if row["group"] != group:
            group = row["group"]
            parts.append(text_at(MARGIN, y + 15, group, 11, "start", "bold"))
            y += CELL_H
        parts.append(text_at(LEFT - 8, y + 15, row["name"] + (" (void)" if row.get("void") else ""), 11, "end"))
        for i, name in enumerate(names):
            words, fill, why = shown(row, name)
            x, title = LEFT + CELL_W * i, escape(row["name"] + ", " + name + ": " + why)
            parts.append(f'<g><title>{title}</title><rect x="{x + 1}" y="{y + 1}" '
                         f'width="{CELL_W - 2}" height="{CELL_H - 2}" fill="{fill}"/>{text_at(x + CELL_W // 2, y + 15, words)}</g>')
        y += CELL_H
    head = [text_at(MARGIN, 22, "Share of the gap between no help (0 %) and binding by hand (100 %) that was closed", 13, "start", "bold"),
            text_at(MARGIN, 40, f"last third of the run, {result['date']}; emulated NUMA machine, figures of its timing model; "
                                "grey: no gap, or no figure", 10, "start")]
    head += [text_at(LEFT + CELL_W * i + CELL_W // 2, TOP - 8, name, 11, "middle", "bold") for i, name in enumerate(names)]
    height = y + MARGIN
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n' + "\n".join(head + parts) + "\n</svg>\n")
