#!/usr/bin/env python3
"""Runs LAMMPS' own checks of style on a LAMMPS tree to which upstream.sh added GPUCOORD. The checks
are those of tools/coding_standard, and `make check` of doc/. Fails on every message that is not in
exceptions.txt, and on sources that LAMMPS' .clang-format would format in another way.

usage: check.py LAMMPS_TREE [CLANG_FORMAT]   path of clang-format, from cmake/clang-format.sh
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
STANDARDS = ("errordocs", "fmtlib", "homepage", "permissions", "versiontags", "whitespace")
# Names of our pages; .. versionadded:: TBD is LAMMPS' convention before a release.
PAGES = sorted(path.name for path in (TOP / "doc/src").glob("*.rst"))
# Reports of check-styles.py and check-packages.py that are not issues.
REPORT = re.compile(r"Parsed style names|^   \w+ styles: |^-+$|^Total number of |^Found \d+ packages$|^$")
# The patterns of `make check` in doc/Makefile, with the files that they are for.
ROLES = (r"[^ -~]", r" :[a-z]\+`", r" `[^`]\+<[a-z][^`]\+`[^_]", r":\(ref\|doc\):[^`]", r"\(ref\|doc\)`[^`]")
DIRECTIVE = r"^ *\.\. [a-z0-9]\+:\(\s\+.*\|\)$"


def messages(command, folder):
    run = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if run.returncode not in (0, 1):
        sys.exit(f"{' '.join(map(str, command))}: exit status {run.returncode}\n{run.stdout}")
    return run.stdout.splitlines()


def package_sources(tree):
    ours = {path.name for path in (TOP / "src/KOKKOS").iterdir()}
    paths = [*tree.glob("src/GPUCOORD/*.*"), *(path for path in tree.glob("src/KOKKOS/*.*") if path.name in ours)]
    return sorted(path.relative_to(tree) for path in paths if path.suffix in (".cpp", ".h"))


def coding_standards(tree):
    pending = {f"[Error] Pending version tag @ {tree}/doc/src/{name}" for name in PAGES}
    for name in STANDARDS:
        found = messages([sys.executable, f"tools/coding_standard/{name}.py", tree], tree)
        yield name, [line for line in found if line.rpartition(":")[0] not in pending]


def manual(tree):
    allowed = {line for line in (HERE / "exceptions.txt").read_text().splitlines() if not line.startswith("#")}
    for name in ("check-packages", "check-styles"):
        found = messages([sys.executable, f"utils/{name}.py", "-s", "../src", "-d", "src"], tree / "doc")
        issues = [line for line in found if not REPORT.search(line)]
        yield name, [line for line in issues if line not in allowed]
        if name == "check-styles":
            unused = allowed.difference(issues)
            yield "exceptions of check-styles", [f"check-styles.py does not print: {line}" for line in sorted(unused)]
    pages = sorted(path.relative_to(tree) for path in tree.glob("doc/src/*.rst"))
    found = []
    for pattern in ROLES:
        found += messages(["env", "LC_ALL=C", "grep", "-n", pattern, *pages], tree)
    found += messages(["env", "LC_ALL=C", "grep", "-n", DIRECTIVE, *pages, *package_sources(tree)], tree)
    yield "characters and roles", found


def listed_styles(tree):
    """check-styles.py does not see the styles of order parameters, which the headers have from a list."""
    orders = (tree / "lib/gpucoord/include/gpucoord/order_parameters.def").read_text()
    found = []
    for style in re.findall(r"^GPUCOORD_ORDER_PARAMETER\(\w+, \w+, ([\w/]+),", orders, re.MULTILINE):
        page = "compute_" + style.replace("/", "_")
        for name, line in (("Commands_compute.rst", f"   * :doc:`{style} (k) <{page}>`"),
                           ("compute.rst", f"* :doc:`{style} <{page}>`"),
                           (f"{page}.rst", f".. index:: compute {style}"), (f"{page}.rst", f".. index:: compute {style}/kk")):
            if not any(text.startswith(line) for text in (tree / "doc/src" / name).read_text().splitlines()):
                found.append(f"{name}: no line '{line}'")
    yield "styles from lists", found


def authors(tree):
    """LAMMPS' template of a source file. No check of LAMMPS looks for it."""
    paths = [path for path in package_sources(tree) if path.suffix == ".cpp"]
    yield "contributing authors", [f"{path}: no line 'Contributing author'" for path in paths
                                   if not re.search("^ +Contributing authors?: .", (tree / path).read_text(), re.MULTILINE)]


def formatted(tree, clang_format):
    paths = package_sources(tree)
    differs = []
    for path in paths:
        run = subprocess.run([clang_format, "--style=file", tree / path], stdout=subprocess.PIPE, check=True)
        if run.stdout != (tree / path).read_bytes():
            differs.append(f"{path}: clang-format would change it")
    yield f"clang-format of {len(paths)} files", differs


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    tree = pathlib.Path(sys.argv[1]).resolve()
    clang_format = sys.argv[2] if sys.argv[2:] else ""
    failed = False
    checks = [*coding_standards(tree), *manual(tree), *listed_styles(tree), *authors(tree),
              *(formatted(tree, clang_format) if clang_format else ())]
    for name, issues in checks:
        print(f"{'failed' if issues else 'passed'}  {name}")
        print("".join(f"    {issue}\n" for issue in issues), end="")
        failed = failed or bool(issues)
    sys.exit(failed)


if __name__ == "__main__":
    main()
