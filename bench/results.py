"""Results of benchmarks: doc/results/PART.json has the tables of one part of bench/run.py.

A table has the fields below, columns, and rows of cells. A cell is a number, a text, null (empty), or
a number with its spread, {"value": 1.2, "spread": 0.1}. A run replaces a file as a whole.

Rows that were measured again and copied into a table of another commit name their own commit, after a
date if it differs ("2026-11-25, 56b7b26"), in a column "commit". The commit of the table is that of the
rows whose cell is null.
"""

import json
import math
import os
import re
import statistics
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "doc", "results")

# Field of a table: whether it must not be null.
FIELDS = {
    "source": True,    # the script or the page that the figures come from
    "machine": True,    # in words
    "gpu": False,    # name of the GPU; null: not used
    "cpu": False,    # model of the CPU; null: not recorded
    "date": True,    # ISO 8601
    "commit": True,    # commit of GPUCOORD, with '+' if sources differed from it; none: figures of other programs
    "lammps": False,    # release; null: LAMMPS was not used
    "precision": False,    # null: a column gives it
    "spread": False,    # meaning of the spread; null: no cell has one
    "note": False,    # sentences about this run
}

COMMIT = re.compile(r"[0-9a-f]{7,40}\+?")
COMMIT_OF_ROW = re.compile(rf"(\d{{4}}-\d\d-\d\d, )?{COMMIT.pattern}")


class ResultError(Exception):
    """A results file is absent or damaged."""


class Number(NamedTuple):
    """A number with its spread."""
    value: float
    spread: float


def measured(samples):
    """Return the median of samples, with half of their range as the spread."""
    return Number(statistics.median(samples), (max(samples) - min(samples)) / 2)


def value_of(cell):
    """Return the number of a cell, or None if it has none."""
    if isinstance(cell, Number):
        return cell.value
    return cell if isinstance(cell, (int, float)) else None


def is_same_size(atoms, other):
    """Whether systems of these numbers of atoms are compared: the smaller has at most 10 % fewer."""
    return abs(atoms - other) <= 0.1 * max(atoms, other)


def exponent_of(x, digits):
    """Return the decimal exponent of x after rounding to significant digits."""
    return int(f"{x:.{digits - 1}e}".split("e")[1])


def rounded(x, decimals):
    """Return x with decimal places; negative decimals round to tens, hundreds, ..."""
    return f"{round(x, decimals):,.{max(0, decimals)}f}"


def scientific(x):
    mantissa, exponent = f"{x:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}e{int(exponent)}"


def text_of(cell):
    """Return the text of a cell: three significant digits, or as many as its spread leaves."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, Number):
        value, spread = cell
        if spread == 0:
            return f"{text_of(float(value))} ± 0"
        exponent = exponent_of(max(abs(value), spread), 3)
        if exponent < -3 or exponent >= 6:
            return f"({text_of(Number(value / 10.0**exponent, spread / 10.0**exponent))})e{exponent}"
        # One digit of the spread; two, if the first one is 1.
        decimals = -exponent_of(spread, 1)
        if f"{spread:.1e}".startswith("1"):
            decimals = 1 - exponent_of(spread, 2)
        of_value = max(decimals, -exponent_of(value, 1)) if value else decimals    # at least one digit
        return f"{rounded(value, of_value)} ± {rounded(spread, decimals)}"
    if cell == 0:
        return "0"
    exponent = exponent_of(cell, 3)
    if exponent < -3 or exponent >= 6:
        return scientific(cell)
    text = rounded(cell, 2 - exponent)
    return text.rstrip("0").rstrip(".") if "." in text else text


def markdown_row(cells):
    return "| " + " | ".join(text_of(cell) for cell in cells) + " |"


class Table:
    """Columns and rows, which are printed as they come."""

    def __init__(self, name, columns, fields):
        self.name, self.columns, self.fields, self.rows = name, list(columns), fields, []
        print(f"\n{name}\n\n{markdown_row(columns)}\n|{'---|' * len(columns)}", flush=True)

    def row(self, *cells):
        if len(cells) != len(self.columns):
            raise ValueError(f"table {self.name} has {len(self.columns)} columns, and a row has {len(cells)} cells")
        self.rows.append(list(cells))
        print(markdown_row(cells), flush=True)


def to_json(cell):
    return cell._asdict() if isinstance(cell, Number) else cell


def from_json(cell):
    return Number(cell["value"], cell["spread"]) if isinstance(cell, dict) else cell


def commits_of_rows(columns, rows):
    """Return the cells of the column "commit"; null stands for the commit of the table."""
    return [dict(zip(columns, row)).get("commit") for row in rows]


def save(path, part, tables):
    """Write a file with one line for each row. tables: name -> {fields, columns, rows}."""
    dump = lambda thing: json.dumps(thing, ensure_ascii=False, allow_nan=False)
    texts = []
    for name, table in tables.items():
        lines = [f'      "{field}": {dump(table[field])},' for field in (*FIELDS, "columns")]
        rows = ",\n".join(f"        {dump([to_json(cell) for cell in row])}" for row in table["rows"])
        texts.append("\n".join([f"    {dump(name)}: {{", *lines, f'      "rows": [\n{rows}\n      ]\n    }}']))
    with open(path + ".new", "w") as file:
        file.write(f'{{\n  "part": {dump(part)},\n  "tables": {{\n' + ",\n".join(texts) + "\n  }\n}\n")
    os.replace(path + ".new", path)


def check_cell(cell):
    if isinstance(cell, dict):
        return cell.keys() == {"value", "spread"} and all(check_cell(x) and value_of(x) is not None for x in cell.values())
    return cell is None or isinstance(cell, str) or (isinstance(cell, (int, float)) and math.isfinite(cell))


def load(folder, part):
    """Return the tables of a part by name; raise ResultError if the file is absent or damaged."""
    path = os.path.join(folder, part + ".json")
    try:
        with open(path) as file:
            content = json.load(file)
    except FileNotFoundError:
        raise ResultError(f"no results {path}: run `make bench PARTS={part}`") from None
    except ValueError as error:
        raise ResultError(f"{path}: {error}") from None
    if not isinstance(content, dict) or content.get("part") != part or not isinstance(content.get("tables"), dict):
        raise ResultError(f"{path}: the results must have the part '{part}' and tables")
    for name, table in content["tables"].items():
        where = f"{path}, table {name}"
        if table.keys() != {*FIELDS, "columns", "rows"}:
            raise ResultError(f"{where}: fields must be {', '.join(FIELDS)}, columns, rows")
        for field, is_needed in FIELDS.items():
            if not isinstance(table[field], str) and (is_needed or table[field] is not None):
                raise ResultError(f"{where}: {field} is {table[field]!r} and must be a text")
        if table["commit"] != "none" and not COMMIT.fullmatch(table["commit"]):
            raise ResultError(f"{where}: the commit is '{table['commit']}' and must be 7 to 40 hexadecimal digits: give other "
                              "commits of rows in a column 'commit'")
        for commit in commits_of_rows(table["columns"], table["rows"]):
            if commit is not None and not (isinstance(commit, str) and COMMIT_OF_ROW.fullmatch(commit)):
                raise ResultError(f"{where}: the commit of a row is {commit!r} and must be 7 to 40 hexadecimal digits, or these "
                                  "after 'YYYY-MM-DD, '")
        for row in table["rows"]:
            if len(row) != len(table["columns"]) or not all(map(check_cell, row)):
                raise ResultError(f"{where}: the row {row} must have {len(table['columns'])} cells, each a number, a "
                                  "text, null, or value and spread")
        table["rows"] = [[from_json(cell) for cell in row] for row in table["rows"]]
        if table["spread"] is None and any(isinstance(cell, Number) for row in table["rows"] for cell in row):
            raise ResultError(f"{where}: the field spread must say what the spread of the cells is")
    return content["tables"]
