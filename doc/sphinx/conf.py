"""Configuration of Sphinx for `make doc` (cmake/build-doc.sh).

The source folder is the top folder of the repository, so that links between pages are those that a
repository browser follows. Extensions in this folder resolve links to LAMMPS' manual and to source
files. Everything else is part of Debian's packages of Sphinx.
"""
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

needs_sphinx = "5.1"    # include_patterns
project = "GPUCOORD"
author = "The GPUCOORD developers"
citation = (pathlib.Path(__file__).parents[2] / "CITATION.cff").read_text()
version = release = re.search(r"^version: (.*)$", citation, re.MULTILINE).group(1)

extensions = ["myst_parser", "sphinx.ext.mathjax", "lammps_manual", "markdown_pages"]
root_doc = "doc/index"
include_patterns = ["*.md", "bench/*.md", "doc/*.md", "doc/dev/**.md", "doc/results/*.md", "doc/src/*.rst", "doc/tutorial/*.md", "examples/**.md", "lib/**.md",
                    "tools/**.md", "unittest/**.md"]
exclude_patterns = [".*", "build", "**.in.md"]    # .in.md: templates of pages
nitpicky = True
highlight_language = "none"    # for blocks without a language

# Markdown links stay as they are, for markdown_pages. $ is no math in Markdown.
myst_all_links_external = True
myst_update_mathjax = False

# MathJax renders formulas in the quality of TeX, and works without a network, as its scripts and fonts
# are copied. MathML needs a mathematical font on the reader's system; images of formulas need LaTeX.
mathjax_path = "mathjax/MathJax.js"
mathjax2_config = {
    "config": ["TeX-AMS_CHTML-full.js"],
    "messageStyle": "none",
}

html_theme = "sphinx_rtd_theme"    # LAMMPS' manual uses a variant of it
html_title = "GPUCOORD"
html_static_path = ["static"]
html_css_files = ["gpucoord.css"]
templates_path = ["templates"]
html_additional_pages = {"index": "to_start_page.html"}
html_show_copyright = False
html_copy_source = False


def copy_mathjax(app, error):
    """Copy the parts of MathJax that the configuration above uses; the whole is 54 MB."""
    if error:
        return
    source, target = pathlib.Path("/usr/share/javascript/mathjax"), pathlib.Path(app.outdir, "_static/mathjax")
    for part in ("extensions", "jax/element", "jax/input/TeX", "jax/output/CommonHTML", "fonts/HTML-CSS/TeX/woff"):
        shutil.copytree(source / part, target / part)
    for part in ("MathJax.js", "config/TeX-AMS_CHTML-full.js"):
        (target / part).parent.mkdir(exist_ok=True)
        shutil.copy(source / part, target / part)


def setup(app):
    app.connect("build-finished", copy_mathjax)
