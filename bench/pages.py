#!/usr/bin/env python3
"""Writes doc/performance.md, doc/accuracy.md and the plots of doc/images from doc/results. It needs
neither a GPU nor LAMMPS, and writes the same pages from the same results.

A template, doc/NAME.in.md, has prose and placeholders, each on a line of its own:
  {{PART/TABLE}}                                   the whole table of doc/results/PART.json
  {{PART/TABLE where COLUMN = TEXT and ...}}       rows whose cells read so on the page
  {{PART+PART/TABLE}}                              tables of this name of several parts, one below the other
Each becomes the provenance of the table, in the paragraph of the line above it, and the table, without
the columns of the conditions and without empty ones. Figures of
other programs (doc/results/peers.json) are joined to the rows whose columns they name, scaled to the
number of atoms of the row. A figure that no row meets is an error, unless its column 'no row' has the reason. doc/results/PART.md has all tables of a part in full.

README.md is no template: a table there is between the lines <!-- {{PART/TABLE}} --> and <!-- end of table -->.

usage: pages.py [--check]   with --check nothing is written, and pages or plots that differ are an error
"""

import os
import re
import sys
import textwrap

import plots
import results
from results import ResultError, is_same_size, markdown_row, text_of, value_of
from run import PARTS

PAGES = ("performance", "accuracy")
PEERS = "peers"
GENERATED = "<!-- Written by `make bench-pages` from doc/*.in.md and doc/results/*.json. -->"
# Columns of a figure of another program that are not conditions on a row
OTHER_COLUMNS = ("program", "table", "column", "value", "source", "no row")


class PageError(Exception):
    """A template and the results do not fit."""


class Results:
    """The tables of a folder, by part; loaded when they are needed."""

    def __init__(self, folder):
        self.folder, self.parts = folder, {}

    def part(self, part):
        if part not in self.parts:
            self.parts[part] = results.load(self.folder, part)
        return self.parts[part]

    def table(self, part, name):
        if name not in self.part(part):
            raise PageError(f"no table '{name}' in {part}.json, which has {', '.join(self.part(part))}")
        return self.part(part)[name]

    def peers(self):
        """Return the figures of other programs as dictionaries without empty cells."""
        table = self.table(PEERS, "figures")
        return [{column: cell for column, cell in zip(table["columns"], row) if cell is not None} for row in table["rows"]]


def select(table, conditions):
    """Return the rows that meet all conditions, and the columns of the conditions."""
    rows, fixed = table["rows"], []
    for condition in conditions:
        column, is_given, text = (word.strip() for word in condition.partition("="))
        if not is_given or column not in table["columns"]:
            raise PageError(f"the condition is '{condition}' and must be COLUMN = TEXT with one of the columns "
                            f"{', '.join(table['columns'])}")
        fixed.append(column)
        rows = [row for row in rows if text_of(row[table["columns"].index(column)]) == text]
    if not rows:
        raise PageError(f"no row meets {' and '.join(conditions)}: correct the placeholder" if conditions else
                        "the table is empty: run `make bench`")
    return rows, fixed


def peer_of(peers, columns, row):
    """Return the first figure whose conditions the row meets, or None."""
    cells = dict(zip(columns, row))
    for peer in peers:
        conditions = {column: cell for column, cell in peer.items() if column not in OTHER_COLUMNS}
        wanted = conditions.pop("atoms", None)
        is_comparable = wanted is None or is_same_size(wanted, cells["atoms"])
        if is_comparable and all(cells.get(column) == cell for column, cell in conditions.items()):
            return peer
    return None


def join_peers(peers, columns, rows):
    """Add columns with each program's figure, and how many times GPUCOORD is faster."""
    sources = []
    for program in dict.fromkeys(peer["program"] for peer in peers):
        mine = [peer for peer in peers if peer["program"] == program]
        column = mine[0]["column"]
        if column not in columns:
            raise PageError(f"{program} has figures of column '{column}', and the table has {', '.join(columns)}")
        k = columns.index(column)
        more = []
        for row in rows:
            peer, value = peer_of(mine, columns, row), value_of(row[k])
            if peer is None or not value:
                more.append([None, None])
                continue
            scale = row[columns.index("atoms")] / peer["atoms"] if "atoms" in peer else 1
            is_rate = column.endswith("/s")
            more.append([peer["value"], value / peer["value"] if is_rate else scale * peer["value"] / value])
            sources.append(f"{program}: {peer['source']}")
        if any(cells != [None, None] for cells in more):
            columns = [*columns, f"{program}, {column}", "times faster"]
            rows = [[*row, *cells] for row, cells in zip(rows, more)]
    return columns, rows, list(dict.fromkeys(sources))


def check_peers(tables):
    """Raise PageError if a figure of another program is joined to no row and gives no reason."""
    peers = tables.peers()
    for peer in peers:
        table = tables.table(*peer["table"].split("/"))
        rivals = [other for other in peers if (other["table"], other["program"]) == (peer["table"], peer["program"])]
        columns = table["columns"]
        is_met = any(peer_of(rivals, columns, row) is peer and value_of(row[columns.index(peer["column"])])
                     for row in table["rows"])
        if is_met != ("no row" in peer):
            continue
        conditions = ", ".join(f"{column} {text_of(cell)}" for column, cell in peer.items() if column not in OTHER_COLUMNS)
        where = f"{os.path.join(tables.folder, PEERS)}.json: the figure of {peer['program']} with {conditions}"
        if is_met:
            raise PageError(f"{where} meets a row of {peer['table']}, but its column 'no row' says that none does: empty that column")
        raise PageError(f"{where} meets no row of {peer['table']}: correct its columns, or give the reason in column 'no row'")


def commit_of(table, rows):
    """Return date and commit of the rows of a table. Rows that name their own commit show it."""
    own = [commit is not None for commit in results.commits_of_rows(table["columns"], rows)]
    if all(own):
        return "each row names its commit"
    return f"{table['date']}, commit {table['commit']}" + " unless a row names another" * any(own)


def provenance(table, rows, sources, conditions, link):
    """Return the sentences about these rows of a table."""
    words = [table["machine"], f"precision {table['precision']}" if table["precision"] else "",
             *(condition.replace(" =", "") for condition in conditions),
             f"LAMMPS {table['lammps']}" if table["lammps"] else "", commit_of(table, rows)]
    text = "; ".join(word for word in words if word)
    text = f"{text[0].upper()}{text[1:]}{link}."
    if table["spread"]:
        text += f" ± is {table['spread']}."
    if table["note"]:
        text += " " + table["note"]
    return text + "".join(f" {source}." for source in sources)


def joined(tables, parts, name):
    """Return tables of several parts as one. If they are of several dates or commits, each row names its own."""
    found = [tables.table(part, name) for part in parts]
    first = found[0]
    for part, table in zip(parts, found):
        for field in ("columns", "machine", "precision", "lammps", "spread", "note"):
            if table[field] != first[field]:
                raise PageError(f"table '{name}' has {field} {first[field]} in {parts[0]}.json and {table[field]} in {part}.json: "
                                "give each a placeholder of its own")
    if all((table["date"], table["commit"]) == (first["date"], first["commit"]) for table in found):
        return {**first, "rows": [row for table in found for row in table["rows"]]}
    if "commit" in first["columns"]:
        raise PageError(f"table '{name}' of {', '.join(parts)} has a column commit and several dates or commits: give each a "
                        "placeholder of its own")
    return {**first, "columns": [*first["columns"], "commit"],
            "rows": [[*row, f"{table['date']}, {table['commit']}"] for table in found for row in table["rows"]]}


def wrapped(text):
    return textwrap.fill(text, 100, break_long_words=False, break_on_hyphens=False)


def shown(tables, parts, name, conditions=(), link=""):
    """Return the provenance and the Markdown of a table of one or several parts."""
    table = joined(tables, parts, name)
    selected, fixed = select(table, conditions)
    peers = [peer for peer in tables.peers() if peer["table"] in [f"{part}/{name}" for part in parts]]
    columns, rows, sources = join_peers(peers, table["columns"], selected)
    kept = [k for k, column in enumerate(columns) if column not in fixed and any(row[k] is not None for row in rows)]
    lines = [markdown_row([columns[k] for k in kept]), "|" + "---|" * len(kept)]
    lines += [markdown_row([row[k] for k in kept]) for row in rows]
    return provenance(table, selected, sources, conditions, link), "\n".join(lines)


def placeholder(tables, directive, results_folder="results"):
    """Return what stands for a placeholder, on a page from which this is the folder of results."""
    match = re.fullmatch(r"([\w-]+(?:\+[\w-]+)*)/([\w-]+)(?: where (.+))?", directive)
    if not match:
        raise PageError(f"the placeholder is '{directive}' and must be PART/TABLE or PART/TABLE where COLUMN = TEXT and ...")
    joined_parts, name, conditions = match.groups()
    parts = joined_parts.split("+")
    words = " ".join(part for part in parts if part in PARTS)
    quote = '"' * (" " in words)
    made = f", `make bench PARTS={quote}{words}{quote}`" if words else ""
    what = "all rows" if conditions else "data"
    links = ", ".join(f"[{what if len(parts) == 1 else part}]({results_folder}/{part}.md)" for part in parts)
    text, table = shown(tables, parts, name, conditions.split(" and ") if conditions else (), f" ({links}{made})")
    return f"{wrapped(text)}\n\n{table}"


def part_page(tables, part):
    """Return the page with all tables of a part."""
    lines = [GENERATED, f"# {part}", "", f"All tables of [{part}.json]({part}.json)" + (
        f", made by `make bench PARTS={part}`" if part in PARTS else "") + "."]
    for name, table in tables.part(part).items():
        text, rows = shown(tables, [part], name)
        lines += ["", f"## {name}", "", wrapped(f"{text} Source: {table['source']}."), "", rows]
    return "\n".join(lines) + "\n"


def page(tables, path):
    """Return the page of a template."""
    with open(path) as file:
        lines = file.read().splitlines()
    for number, line in enumerate(lines):
        match = re.fullmatch(r"\{\{(.*)\}\}", line)
        try:
            if match:
                lines[number] = placeholder(tables, match.group(1).strip())
            elif "{{" in line or "}}" in line:
                raise PageError(f"a placeholder must be alone on its line: {line}")
        except (PageError, ResultError) as error:
            raise PageError(f"{path}:{number + 1}: {error}") from None
    return GENERATED + "\n" + "\n".join(lines) + "\n"


def with_tables(tables, path):
    """Return the text of README.md, whose tables are replaced."""
    with open(path) as file:
        text = file.read()
    kept = re.split(r"^<!-- \{\{(.*)\}\} -->\n(?:(?!<!-- \{\{)[\s\S])*?^<!-- end of table -->\n", text, flags=re.M)
    if any("{{" in part or "<!-- end of table" in part for part in kept[::2]):
        raise PageError(f"{path}: a table must be between the lines <!-- {{{{PART/TABLE}}}} --> and <!-- end of table -->")
    try:
        tables_of = [f"<!-- {{{{{directive}}}}} -->\n\n{placeholder(tables, directive.strip(), 'doc/results')}\n\n<!-- end of table -->\n"
                     for directive in kept[1::2]]
    except (PageError, ResultError) as error:
        raise PageError(f"{path}: {error}") from None
    return "".join(part for pair in zip(kept[::2], [*tables_of, ""]) for part in pair)


def build(doc):
    """Return path -> text of all pages."""
    folder = os.path.join(doc, "results")
    tables = Results(folder)
    check_peers(tables)
    pages = {os.path.join(doc, name + ".md"): page(tables, os.path.join(doc, name + ".in.md")) for name in PAGES}
    for file in sorted(os.listdir(folder)):
        part, kind = os.path.splitext(file)
        if kind == ".json":
            pages[os.path.join(folder, part + ".md")] = part_page(tables, part)
    readme = os.path.join(os.path.dirname(doc), "README.md")
    if os.path.basename(doc) == "doc" and os.path.exists(readme):
        pages[readme] = with_tables(tables, readme)
    return pages


def differing(doc):
    """Return the pages and plots that differ from what the results give."""
    found = []
    for path, text in build(doc).items():
        if not os.path.exists(path):
            found.append(path)
            continue
        with open(path) as file:
            if file.read() != text:
                found.append(path)
    return found + plots.differing(doc)


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    doc = os.path.join(results.ROOT, "doc")
    try:
        if sys.argv[1:]:
            different = differing(doc)
            if different:
                sys.exit(f"differs from the results: {', '.join(different)}: run `make bench-pages`")
            return
        for path, text in build(doc).items():
            with open(path, "w") as file:
                file.write(text)
        plots.draw_all(doc)
    except (PageError, ResultError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
