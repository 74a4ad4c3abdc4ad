#!/usr/bin/env python3
"""Builds the pages of the manual that upstream.sh added or changed, with LAMMPS' configuration of
Sphinx, and checks their spelling. Every warning and every unknown word is an error. Other pages are
replaced by stubs with their labels, which makes the build a matter of seconds.

usage: manual.py UPSTREAM_TREE LAMMPS_TREE FOLDER [--all]
  UPSTREAM_TREE  a LAMMPS tree after upstream.sh; LAMMPS_TREE: the same without
  FOLDER         for the built pages
  --all          builds all pages of the manual. Takes minutes.
Needs Sphinx and the packages of cmake/upstream/sphinx.txt. Spelling needs enchant and its dictionary of
American English (Debian: libenchant-2-2, hunspell-en-us) and is skipped, with a message, without.
"""
import filecmp
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "doc/sphinx"))
from lammps_manual import labels

# Extensions for pages about the source code, which read the output of Doxygen and of Fortran modules.
UNUSED = ("breathe", "sphinxfortran.fortran_domain")
# Messages about the directives of these extensions, and about a module that needs IPython
UNUSED_MESSAGES = re.compile(r"(Unknown|unknown) (directive|role|interpreted text role)( type| name:)? \"?(doxygen|f:)|"
                             r"No (directive|role) entry for \"(doxygen|f:)|autodoc: failed to import 'ipython\.wrapper'")


def stub(text, known):
    """Return a page with the labels of another one that are not in the known ones yet, and add them to these."""
    lines = [":orphan:", "", "Page", "====", ""]
    for label in labels(text):
        if label.casefold() not in known:
            known.add(label.casefold())
            lines += [f".. _{label}:", "", "Label", ""]
    return "\n".join(lines)


def sources(tree, lammps, folder):
    """Fill the folder with pages; return those that the package adds or changes."""
    folder.mkdir(parents=True)
    pages = {path.name: path for path in sorted((tree / "doc/src").glob("*.rst"))}
    changed, included = [], set()
    for name, path in pages.items():
        base = lammps / "doc/src" / name
        if not base.exists() or not filecmp.cmp(path, base, shallow=False):
            changed.append(name)
            included.update(re.findall(r"^\.\. include:: (\S+)$", path.read_text(), re.MULTILINE))
    known = set()
    for name, path in pages.items():
        if name in changed or name in included:
            shutil.copy(path, folder)
        else:
            (folder / name).write_text(stub(path.read_text(), known))
    entries = "".join(f"   {name[:-len('.rst')]}\n" for name in changed)
    (folder / "Manual.rst").write_text(f"Manual\n======\n\n.. toctree::\n\n{entries}")
    return changed


def all_sources(tree, folder):
    """Copy all pages to the folder, with the lists of styles that LAMMPS generates; return their names."""
    shutil.copytree(tree / "doc/src", folder)
    subprocess.run([sys.executable, tree / "doc/utils/make-globbed-tocs.py", "-d", folder], check=True, stdout=subprocess.DEVNULL)
    return [path.name for path in folder.glob("*.rst")]


def configuration(tree, folder):
    """Write LAMMPS' conf.py, without extensions that none of these pages uses."""
    config = tree / "doc/utils/sphinx-config"
    shutil.copytree(config, folder)
    text = (config / "conf.py.in").read_text()
    for name, path in (("DOC_DIR", tree / "doc"), ("SOURCE_DIR", tree / "src"), ("PYTHON_DIR", tree / "python")):
        text = text.replace(f"@LAMMPS_{name}@", str(path))
    text += f"\nextensions = [name for name in extensions if name not in {UNUSED!r}]\nsuppress_warnings = ['config.cache']\n"
    (folder / "conf.py").write_text(text)


def sphinx(builder, config, pages, output, *options):
    command = [sys.executable, "-m", "sphinx", "-q", "-E", "--keep-going", *options, "-b", builder, "-c", config, pages, output]
    run = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return run.returncode, run.stdout


def build_all(config, pages, output):
    """Build all pages; return whether that failed, and the messages that are not about unused extensions."""
    status, text = sphinx("html", config, pages, output, "-j", "auto")
    messages = [line for line in text.splitlines() if re.search(r"\b(WARNING|ERROR|CRITICAL): ", line)]
    messages = [line for line in messages if not UNUSED_MESSAGES.search(line)]
    return bool(status or messages), "".join(f"{line}\n" for line in messages) if not status else text


def unknown_words(lammps, folder):
    """Return messages about words that the pages of LAMMPS itself do not have."""
    status, output = sphinx("spelling", folder / "config", folder / "src", folder / "spelling", "-W")
    reports = sorted((folder / "spelling").rglob("*.spelling"))
    if status and not reports:
        return [output]
    found = []
    for report in reports:
        base = lammps / "doc/src" / f"{report.stem}.rst"
        known = base.read_text() if base.exists() else ""
        found += [line for line in report.read_text().splitlines() if re.search(r"\((.*?)\)", line).group(1) not in known]
    return found


def main():
    if len(sys.argv) not in (4, 5) or sys.argv[4:] not in ([], ["--all"]):
        sys.exit(__doc__)
    tree, lammps, folder = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    shutil.rmtree(folder, ignore_errors=True)
    changed = sources(tree, lammps, folder / "src")
    configuration(tree, folder / "config")
    status, output = sphinx("html", folder / "config", folder / "src", folder / "html", "-W")
    print(f"{'failed' if status else 'passed'}  {len(changed)} pages of the manual built")
    print(output, end="")
    if sys.argv[4:]:
        pages = all_sources(tree, folder / "all")
        failed, output = build_all(folder / "config", folder / "all", folder / "html-all")
        print(f"{'failed' if failed else 'passed'}  all {len(pages)} pages of the manual built")
        print(output, end="")
        status = status or failed
    try:
        import enchant
        enchant.Dict("en_US")
    except Exception as error:
        print(f"SKIPPED  spelling: {str(error).splitlines()[0]}")
        sys.exit(bool(status))
    shutil.copy(folder / "config/false_positives.txt", folder / "src")
    unknown = unknown_words(lammps, folder)
    print(f"{'failed' if unknown else 'passed'}  spelling")
    print("\n".join(unknown), end="\n" if unknown else "")
    sys.exit(bool(status or unknown))


if __name__ == "__main__":
    main()
