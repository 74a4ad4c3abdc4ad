#!/usr/bin/env python3
"""Adds GPUCOORD to the lists of a LAMMPS source tree: packages, presets, styles, Howto pages, spelling
words and, with the GitHub accounts of maintainers, code owners.

usage: insert.py LAMMPS_TREE [@ACCOUNT...]
Entries of an earlier call are replaced. A list in an unknown form is an error that names the file
and what was not found. A release of LAMMPS that is older than the supported ones is an error, too.
After an error, no file is changed. An untested newer release causes a warning.
"""
import datetime
import os
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent


class UnknownForm(Exception):
    pass


class List:
    """The lines of a file of LAMMPS, and the position of the list within them."""

    def __init__(self, tree, name):
        self.path, self.name = tree / name, name
        if not self.path.is_file():
            raise UnknownForm(f"there is no {name}")
        self.lines = self.path.read_text().splitlines()
        self.first = 0

    def find(self, pattern, start=0):
        for number in range(start, len(self.lines)):
            if re.search(pattern, self.lines[number]):
                return number
        raise UnknownForm(f"{self.name} has no line '{pattern}'")

    def after(self, pattern):
        """Let the list start after the first line of a pattern that follows its present start."""
        self.first = self.find(pattern, self.first) + 1
        return self

    def insert(self, item, entries, end=r"^\S"):
        """Insert entries, lists of lines, each after the greatest item that precedes it. The first
        group of the pattern `item` is the key of an item; the list ends at the first line, after
        its first item, that matches `end` and is not an item."""
        def is_end(line):
            return re.search(end, line) and not re.search(item, line)

        def key(line):
            return re.search(item, line).group(1)

        keys = {key(entry[0]) for entry in entries}
        start = self.find(item, self.first)
        present, number = [], start
        while number < len(self.lines) and not is_end(self.lines[number]):
            if re.search(item, self.lines[number]):
                present.append((key(self.lines[number]), []))
            present[-1][1].append(self.lines[number])
            number += 1
        items = [(other, lines) for other, lines in present if other not in keys]
        for entry in entries:
            new = key(entry[0])
            before = [number for number, (other, _) in enumerate(items) if other.casefold() < new.casefold()]
            last = max(before, key=lambda number: (items[number][0].casefold(), number), default=-1)
            items.insert(last + 1, (new, entry))
        self.lines[start:number] = [line for _, lines in items for line in lines]
        return self

    def replace(self, pattern, replacement):
        """Replace a pattern in exactly one line. It also matches its replacement, so that a second call
        changes nothing."""
        numbers = [number for number, line in enumerate(self.lines) if re.search(pattern, line)]
        if len(numbers) != 1:
            raise UnknownForm(f"{self.name} has {len(numbers)} lines '{pattern}', expected one")
        self.lines[numbers[0]] = re.sub(pattern, replacement, self.lines[numbers[0]])
        return self

    def write(self):
        text = "\n".join(self.lines) + "\n"
        if text != self.path.read_text():
            # A new file, since the tree may consist of links to another one.
            new = self.path.with_name(self.path.name + ".new")
            new.write_text(text)
            new.chmod(self.path.stat().st_mode)
            os.replace(new, self.path)


def date(version):
    return datetime.datetime.strptime(version, "%d %b %Y")


def check_release(tree):
    table = (TOP / "cmake/lammps-releases.txt").read_text()
    supported = re.findall(r"^\d.* (\d+ \w+ \d+)$", table, re.MULTILINE)    # the newest first
    header = List(tree, "src/version.h")
    version = re.search(r'"(.*)"', header.lines[header.find(r'LAMMPS_VERSION "\d+ \w+ \d+"')]).group(1)
    if date(version) < date(supported[-1]):
        sys.exit(f"Error: {tree} is LAMMPS {version}, and GPUCOORD needs LAMMPS {supported[-1]} or newer. Nothing was changed; "
                 "give such a tree.")
    if version not in supported:
        print(f"Warning: {tree} is LAMMPS {version}. GPUCOORD is tested with LAMMPS {', '.join(supported)}. With other releases "
              "it may not compile, and its tests have not been run.", file=sys.stderr)


def part(name):
    return (HERE / name).read_text().splitlines()


def order_parameters():
    """Return name, page, description of the compute of each order parameter."""
    listed = (TOP / "lib/gpucoord/include/gpucoord/order_parameters.def").read_text()
    return [(style, "compute_" + style.replace("/", "_"), f"{text}, with derivatives and virial") for style, text in
            re.findall(r'^GPUCOORD_ORDER_PARAMETER\(\w+, \w+, ([\w/]+),\s+"([^"]+)"', listed, re.MULTILINE)]


def package_details():
    for line in part("Packages_details.rst"):
        if line == "* order parameters":
            yield from (f"* :doc:`compute {name} <{page}>`" for name, page, _ in order_parameters())
        else:
            yield line


def styles():
    """Return kind, name, page, description of each style; and the names of those with KOKKOS."""
    rows = []
    for line in part("styles.txt"):
        if line and not line.startswith("#"):
            kind, name, page, *description = line.split(None, 3)
            rows.append((kind, name, page, "".join(description)))
    rows += [("compute", *row) for row in order_parameters()]
    kokkos = set()
    listed = (TOP / "src/GPUCOORD/coord_styles.h").read_text() + "".join(
        f"ORDER_PARAMETER({name},\n" for name, _, _ in order_parameters())
    for header in sorted((TOP / "src/KOKKOS").glob("*.h")):
        text = header.read_text()
        for kind, name in re.findall(r"^(\w+)Style\((\S+)/kk,", text, re.MULTILINE):
            kokkos.add((kind.lower(), name))
        for macro in re.findall(r"^#define (\w+)\(style, .*\\$", text, re.MULTILINE):
            kokkos.update(("compute", name) for name in re.findall(rf"^{macro}\((\S+?),", listed, re.MULTILINE))
    return rows, kokkos


def build_lists(tree):
    package = r"^  ([A-Z0-9-]+)\)?$"
    cmake = List(tree, "cmake/CMakeLists.txt").after(r"^set\(STANDARD_PACKAGES$")
    cmake.insert(package, [["  GPUCOORD"]])
    # GPUCOORD reads settings of KOKKOS, and is therefore included after it.
    cmake.replace(r"^(foreach\(PKG_WITH_INCL .*\bKOKKOS\b.*?)( GPUCOORD)?\)$", r"\1 GPUCOORD)")
    yield cmake
    for name, variable in (("all_on", "ALL"), ("all_off", "ALL"), ("nolib", "WITH_LIB")):
        names = "ALL_PACKAGES" if variable == "ALL" else "PACKAGES_WITH_LIB"
        preset = List(tree, f"cmake/presets/{name}.cmake").after(rf"^set\({names}$")
        yield preset.insert(package, [["  GPUCOORD"]])
    kokkos = []
    for path in sorted((TOP / "src/KOKKOS").iterdir()):
        if path.name.endswith("_kokkos.cpp") or path.name.endswith("_kokkos.h"):
            plain = path.name.replace("_kokkos", "")
            needed = plain if (TOP / "src/GPUCOORD" / plain).exists() else "gpucoord_backend.h"
            kokkos.append([f"action {path.name} {needed}"])
    yield List(tree, "src/KOKKOS/Install.sh").insert(r"^action (\S+)", kokkos, end=r"^(#|$)")
    yield List(tree, "lib/README").insert(r"^([a-z0-9]+) ", [part("lib_README")])
    if (tree / "src/.gitignore").exists():    # not in a tarball of LAMMPS
        yield ignored_files(tree)


def ignored_files(tree):
    """Sources that the legacy build copied into src/."""
    ignored = List(tree, "src/.gitignore")
    names = sorted(path.name for path in (TOP / "src/GPUCOORD").iterdir()
                   if path.suffix in (".cpp", ".h") and not path.stem.endswith("plugin"))
    entries = [f"/{name}" for name in names]
    kept = [line for line in ignored.lines if line not in entries]
    while kept and not kept[-1]:
        kept.pop()
    ignored.lines = kept + [""] + entries
    return ignored


def package_pages(tree):
    row = r"^   \* - :ref:`([A-Z0-9-]+) <PKG-"
    table = "Packages_list.rst" if (tree / "doc/src/Packages_list.rst").exists() else "Packages.rst"    # in older releases
    yield List(tree, f"doc/src/{table}").insert(row, [part("Packages.rst")])
    details = List(tree, "doc/src/Packages_details.rst")
    details.insert(r"^   \* :ref:`([A-Z0-9-]+) <PKG-", [["   * :ref:`GPUCOORD <PKG-GPUCOORD>`"]], end=r"^\s*$")
    yield details.insert(r"^\.\. _PKG-([A-Z0-9-]+):", [[*package_details()]], end=r"(?!)")
    build = List(tree, "doc/src/Build_package.rst")
    yield build.insert(r"^   \* :ref:`([A-Z0-9-]+) <", [["   * :ref:`GPUCOORD <gpucoord>`"]], end=r"^\s*$")
    extras = List(tree, "doc/src/Build_extras.rst")
    extras.insert(r"^   \* :ref:`([A-Z0-9-]+) <", [["   * :ref:`GPUCOORD <gpucoord>`"]], end=r"^\s*$")
    # Sections are not sorted: ours follows that of GPU.
    yield extras.after(r"^\.\. _compress:").insert(r"^\.\. _(gpu\w*|h5md):", [part("Build_extras.rst")], end=r"^\.\. _h5md")


def style_pages(tree):
    rows, kokkos = styles()
    for kind, table, overview in (("compute", "Commands_compute.rst", "compute.rst"), ("fix", "Commands_fix.rst", "fix.rst"),
                                  ("pair", "Commands_pair.rst", "pair_style.rst")):
        chosen = [row for row in rows if row[0] == kind]
        # LAMMPS' checks interpret "/gpu" as a suffix: exceptions.txt.
        entries = [[f"   * :doc:`{name}{' (k)' if (kind, name) in kokkos else ''} <{page}>`"] for _, name, page, _ in chosen]
        yield List(tree, f"doc/src/{table}").insert(rf"^   \* :doc:`(\S+)(?: \(\w+\))? <{kind}_", entries, end=r"^\s*$")
        entries = [[f"* :doc:`{name} <{page}>` - {description}"] for _, name, page, description in chosen]
        yield List(tree, f"doc/src/{overview}").insert(rf"^\* :doc:`(\S+) <{kind}_\w+>` - ", entries, end=r"^\s*$")
    commands = [row for row in rows if row[0] == "command"]
    general = List(tree, "doc/src/Commands_all.rst").after(r"^Additional general LAMMPS commands provided by packages")
    yield general.insert(r"^   \* :doc:`(\S+)(?: \(\w+\))? <", [[f"   * :doc:`{name} <{page}>`"] for _, name, page, _ in commands])
    toctree = List(tree, "doc/src/commands_list.rst").after(r"^ +:maxdepth: 1$")
    yield toctree.insert(r"^   (\w+)$", [[f"   {page}"] for _, _, page, _ in commands])


def howto_pages(tree):
    names = sorted(path.stem for path in (TOP / "doc/src").glob("Howto_*.rst"))
    index = List(tree, "doc/src/Howto.rst").after(r"^ +:name: packages_howto$")
    return index.insert(r"^   (Howto_\w+)$", [[f"   {name}"] for name in names], end=r"^\s*$")


def spelling_words(tree):
    words = List(tree, "doc/utils/sphinx-config/false_positives.txt")
    new = [[word] for word in part("spelling.txt") if word not in words.lines]
    return words.insert(r"^(\S+)$", new) if new else words


def code_owners(tree, accounts):
    """GitHub asks them for reviews of changes; the last matching line counts."""
    def lines(*patterns):
        return [[f"{pattern:<21} {' '.join(accounts)}"] for pattern in patterns]

    owners = List(tree, ".github/CODEOWNERS")
    owners.insert(r"^(lib/\S+)\s", lines("lib/gpucoord/*"), end=r"^$")
    owners.insert(r"^(src/[A-Z0-9-]+/\*)\s", lines("src/GPUCOORD/*"), end=r"^$")
    kokkos = sorted(path.name for path in (TOP / "src/KOKKOS").glob("*.h"))
    owners.after("^# individual files in packages")
    return owners.insert(r"^(src/\S+)\s", lines(*(f"src/KOKKOS/{name[:-1]}*" for name in kokkos)), end=r"^$")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tree, accounts = pathlib.Path(sys.argv[1]), sys.argv[2:]
    for account in accounts:
        if not account.startswith("@"):
            sys.exit(f"Error: '{account}' is no GitHub account with a leading @, such as @octocat. Nothing was changed.")
    try:
        check_release(tree)
        lists = [*build_lists(tree), *package_pages(tree), *style_pages(tree), howto_pages(tree), spelling_words(tree)]
        if accounts:
            lists.append(code_owners(tree, accounts))
    except UnknownForm as error:
        sys.exit(f"Error: {tree} has another form than the supported releases: {error}. Nothing was changed; "
                 "adapt cmake/upstream/insert.py to this tree.")
    for edited in lists:
        edited.write()
    if not accounts and (tree / ".github/CODEOWNERS").exists():    # not in a tarball of LAMMPS
        print(f"{tree}/.github/CODEOWNERS is unchanged: it needs GitHub accounts, which upstream.sh takes after the tree: @ACCOUNT...")


if __name__ == "__main__":
    main()
