"""Sphinx extension: pages of LAMMPS' manual, read from doc/src of a LAMMPS source tree.

- A :doc: or :ref: role for a page or label that only LAMMPS has becomes a link to LAMMPS' online
  manual. A role for a page or label that nobody has is a warning.
- Pages may include files of LAMMPS' manual.
- Code blocks of the language LAMMPS are highlighted by LAMMPS' lexer.
- `versionadded:: TBD`, which LAMMPS replaces by the date of the release, is left out.
"""
import functools
import importlib.util
import os
import pathlib
import re

from docutils import nodes
from sphinx import addnodes
from sphinx.errors import ConfigError
from sphinx.util import logging

ONLINE_MANUAL = "https://docs.lammps.org"
logger = logging.getLogger(__name__)


def labels(text):
    """Return the labels that the text of a page defines."""
    return re.findall(r"^ *\.\. _(?!`)([^:\n]+):[ ]*$", text, re.MULTILINE)


@functools.lru_cache
def pages_by_label(folder):
    return {label.lower(): page.stem for page in sorted(folder.glob("*.rst")) for label in labels(page.read_text())}


def resolve(app, env, node, text):
    """Return a link for a role whose target is none of our pages and labels."""
    if node["refdomain"] != "std" or node["reftype"] not in ("doc", "ref"):
        return None
    folder = pathlib.Path(app.config.lammps_tree, "doc/src")
    role, target = node["reftype"], node["reftarget"]
    if role == "doc":
        page, anchor = target if (folder / f"{target}.rst").is_file() else None, ""
    else:
        page, anchor = pages_by_label(folder).get(target), f"#{nodes.make_id(target)}"
    if page:
        return nodes.reference("", "", text, refuri=f"{ONLINE_MANUAL}/{page}.html{anchor}")
    kind = "page" if role == "doc" else "label"
    logger.warning(":%s:`%s`: neither GPUCOORD nor LAMMPS has a %s '%s'", role, target, kind, target, location=node)
    return text


def use_includes_of_lammps(app, docname, source):
    """Replace names of included files that only LAMMPS' manual has by their paths."""
    folder = pathlib.Path(app.env.doc2path(docname)).parent

    def path(match):
        file = pathlib.Path(app.config.lammps_tree, "doc/src", match[2])
        if (folder / match[2]).exists() or not file.is_file():
            return match[0]
        return match[1] + os.path.relpath(file, folder)

    source[0] = re.sub(r"^(\.\. include:: )(\S+)$", path, source[0], flags=re.MULTILINE)


def remove_pending_versions(app, document):
    for node in list(document.findall(addnodes.versionmodified)):
        if node["version"] == "TBD":
            node.parent.remove(node)


def check_tree(app, config):
    lexer = pathlib.Path(config.lammps_tree, "doc/utils/sphinx-config/LAMMPSLexer.py")
    if not lexer.is_file():
        raise ConfigError(f"lammps_tree is '{config.lammps_tree}', which is no LAMMPS source tree with a manual")
    spec = importlib.util.spec_from_file_location("LAMMPSLexer", lexer)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app.add_lexer("LAMMPS", module.LAMMPSLexer)


def setup(app):
    app.add_config_value("lammps_tree", "", "env")
    app.connect("config-inited", check_tree)
    app.connect("source-read", use_includes_of_lammps)
    app.connect("doctree-read", remove_pending_versions)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
