"""The documentation as HTML (cmake/build-doc.sh), in a small tree: links between pages, to source
files and to LAMMPS' manual; and faults that make `make doc` fail, with file and target in the
message."""
# Without: gpu, kokkos

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]

INDEX = """# Start

[a heading](guide.md#on-the-gpu-with-kokkos), [its copy](guide.md#steps-1), [here](#start),
[folder](../examples), [style](src/style.rst), [CITATION.cff](../CITATION.cff), [sources](../src/core)

```{toctree}
guide
src/style
/examples/README
```
"""
GUIDE = """# Guide

## On the GPU, with `KOKKOS`

## Steps

## Steps
"""
STYLE = """style command
=============

.. versionadded:: TBD

:doc:`Our page <style>`, :ref:`our label <our-label>`, :doc:`its page <run_style>`, :ref:`its label <Their_Label>`

.. code-block:: LAMMPS

   run 10

.. include:: accel_styles.rst

.. _our-label:

A section
"""
STYLE += '"' * 9 + "\n\nText\n"
LEXER = """from pygments.lexer import RegexLexer
from pygments.token import Keyword, Text


class LAMMPSLexer(RegexLexer):
    tokens = {"root": [(r"run", Keyword), (r".|\\n", Text)]}
"""
LAMMPS = {
    "doc/src/run_style.rst": "run_style command\n=================\n\n.. _Their_Label:\n\nText\n",
    "doc/src/accel_styles.rst": "Styles with suffixes: :doc:`-suffix <Run_options>`\n",
    "doc/src/Run_options.rst": "Options\n=======\n",
    "doc/utils/sphinx-config/LAMMPSLexer.py": LEXER,
}


def write(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


class Doc(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree, self.lammps = pathlib.Path(folder.name, "tree").resolve(), pathlib.Path(folder.name, "lammps")
        write(self.lammps, LAMMPS)
        write(self.tree, {"doc/index.md": INDEX, "doc/guide.md": GUIDE, "doc/src/style.rst": STYLE,
                          "examples/README.md": "# Examples\n", "src/core/box.h": ""})
        shutil.copy(REPOSITORY / "CITATION.cff", self.tree)
        shutil.copytree(REPOSITORY / "doc/sphinx", self.tree / "doc/sphinx", ignore=shutil.ignore_patterns("__pycache__"))
        (self.tree / "cmake").mkdir()
        shutil.copy(REPOSITORY / "cmake/build-doc.sh", self.tree / "cmake")

    def build(self, **environment):
        done = subprocess.run([self.tree / "cmake/build-doc.sh", self.lammps, self.tree / "build/doc"], text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={**os.environ, "PYTHON": sys.executable, **environment})
        return done.returncode, done.stdout

    def page(self, name):
        return (self.tree / "build/doc/html" / f"{name}.html").read_text()

    def links(self, name):
        """Return the target of each link in the text of a page, by the text of the link."""
        body = self.page(name).partition('itemprop="articleBody"')[2].partition("<footer>")[0]
        found = re.findall(r'<a class="reference (?:in|ex)ternal" href="([^"]*)">(.*?)</a>', body)
        return {re.sub("<.*?>", "", text): target for target, text in found}

    def test_links(self):
        status, output = self.build()
        self.assertEqual((status, output), (0, f"Built {self.tree}/build/doc/html/index.html\n"))
        links = self.links("doc/index")
        expected = {"a heading": "guide.html#on-the-gpu-with-kokkos", "its copy": "guide.html#id1", "here": "#",
                    "folder": "../examples/README.html", "style": "src/style.html"}
        self.assertEqual({text: links.get(text) for text in expected}, expected)
        self.assertIn('id="id1"', self.page("doc/guide"))
        self.assertRegex(self.page("doc/index"), r'(?s)<code[^>]*><span class="pre">CITATION.cff</span></code>.*'
                                                 r'sources \(<code[^>]*><span class="pre">src/core</span></code>\)')
        links = self.links("doc/src/style")
        online = "https://docs.lammps.org/"
        expected = {"Our page": "#", "our label": "#our-label", "its page": f"{online}run_style.html",
                    "its label": f"{online}run_style.html#their-label", "-suffix": f"{online}Run_options.html"}
        self.assertEqual({text: links.get(text) for text in expected}, expected)
        self.assertNotIn("TBD", self.page("doc/src/style"))
        self.assertIn('url=doc/index.html"', self.page("index"))

    def test_without_network(self):
        """Pages load nothing from other hosts."""
        write(self.tree, {"doc/src/style.rst": STYLE + "\n:math:`x^2`\n"})
        self.assertEqual(self.build()[0], 0)
        text = self.page("doc/src/style")
        scripts = re.findall(r'<script[^>]* src="([^"?]*)', text) + re.findall(r'<link rel="stylesheet" href="([^"?]*)', text)
        self.assertIn("../../_static/mathjax/MathJax.js", scripts)
        missing = [name for name in scripts if not (self.tree / "build/doc/html/doc/src" / name).exists()]
        self.assertEqual(missing, [])
        parts = re.search(r'"config": \["(.*?)"\]', text).group(1)
        self.assertTrue((self.tree / "build/doc/html/_static/mathjax/config" / parts).exists())

    def test_links_to_a_repository(self):
        self.assertEqual(self.build(DOC_SOURCE_URL="https://forge.example/gpucoord/blob/main/")[0], 0)
        links = self.links("doc/index")
        self.assertEqual((links["CITATION.cff"], links["sources"]),
                         ("https://forge.example/gpucoord/blob/main/CITATION.cff", "https://forge.example/gpucoord/blob/main/src/core"))

    def test_failures(self):
        guide, style = self.tree / "doc/guide.md", self.tree / "doc/src/style.rst"
        outside = os.path.relpath(self.lammps, self.tree)
        cases = [
            (guide, "\n[a](../src/core/bax.h)\n", "link to '../src/core/bax.h': the repository has no 'src/core/bax.h'"),
            (guide, "\n[a](src/style.md)\n", "link to 'src/style.md': the repository has no 'doc/src/style.md'"),
            (guide, f"\n[a](../{outside})\n", f"link to '../{outside}': the repository has no '{outside}'"),
            (guide, "\n[a](index.md#stop)\n", "link to 'index.md#stop': 'doc/index.md' has no heading 'stop'"),
            (guide, "\n[a](#stop)\n", "link to '#stop': 'doc/guide.md' has no heading 'stop'"),
            (guide, "\n| a | b | |---|---| | 1 | 2 |\n", "a table needs a line for each row: '| a | b | "),
            (style, "\n:doc:`a <run_stile>`\n", ":doc:`run_stile`: neither GPUCOORD nor LAMMPS has a page 'run_stile'"),
            (style, "\n:ref:`a <no-label>`\n", ":ref:`no-label`: neither GPUCOORD nor LAMMPS has a label 'no-label'"),
            (style, "\n.. code-block:: LAMMPZ\n\n   run\n", "LAMMPZ"),
            (style, "\n*emphasis without an end\n", "Inline emphasis start-string without end-string"),
        ]
        for file, text, _ in cases:
            file.write_text(file.read_text() + text)
        write(self.tree, {"doc/alone.md": "# Alone\n"})
        status, output = self.build()
        self.assertNotEqual(status, 0, output)
        for file, text, message in cases:
            line = file.read_text().splitlines().index(text.splitlines()[1]) + 1
            self.assertRegex(output, f"(?m)^{re.escape(str(file))}:{line}: WARNING: .*{re.escape(message)}")
        self.assertIn(f"{self.tree}/doc/alone.md: WARNING: document isn't included in any toctree", output)

    def test_one_failure(self):
        """One warning is enough, and a second build repeats it."""
        with open(self.tree / "doc/guide.md", "a") as file:
            file.write("\n[a](nothing.md)\n")
        for _ in range(2):
            status, output = self.build()
            self.assertNotEqual(status, 0, output)
            self.assertIn(f"{self.tree}/doc/guide.md:9: WARNING: link to 'nothing.md': the repository has no 'doc/nothing.md'", output)

    def test_no_lammps_tree(self):
        (self.lammps / "doc/utils/sphinx-config/LAMMPSLexer.py").unlink()
        status, output = self.build()
        self.assertNotEqual(status, 0)
        self.assertIn(f"lammps_tree is '{self.lammps.resolve()}', which is no LAMMPS source tree with a manual", output)


if __name__ == "__main__":
    missing = [name for name in ("sphinx", "myst_parser", "sphinx_rtd_theme") if not importlib.util.find_spec(name)]
    if missing or not os.path.exists("/usr/share/javascript/mathjax/MathJax.js"):
        print(f"SKIPPED: the documentation cannot be built without {' '.join(missing) or 'MathJax'}")
        sys.exit(77)
    unittest.main(verbosity=2)
