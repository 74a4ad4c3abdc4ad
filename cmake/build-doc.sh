#!/usr/bin/env bash
# Builds the documentation as HTML in FOLDER/html, with Sphinx and without a network. Each warning of
# Sphinx is an error. All pages are built anew: a page that did not change would not repeat its
# warnings.
# Usage: build-doc.sh LAMMPS_TREE FOLDER
# Environment: DOC_SOURCE_URL, PYTHON.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd -P)
lammps=${1:?usage: build-doc.sh LAMMPS_TREE FOLDER} folder=${2:?usage: build-doc.sh LAMMPS_TREE FOLDER}
python=${PYTHON:-/usr/bin/python3}

"$python" -c 'import myst_parser, sphinx, sphinx_rtd_theme' && [ -e /usr/share/javascript/mathjax/MathJax.js ] || {
  echo "Error: the documentation needs Sphinx 5.1, MyST-Parser and the Read the Docs theme for $python, and MathJax 2 in" \
    "/usr/share/javascript/mathjax. Debian: python3-sphinx python3-myst-parser python3-sphinx-rtd-theme libjs-mathjax" >&2
  exit 1
}
rm -rf "$folder"
"$python" -B -m sphinx -q -W --keep-going -j auto -c "$top/doc/sphinx" -d "$folder/doctrees" \
  -D lammps_tree="$(realpath "$lammps")" -D source_url="${DOC_SOURCE_URL:-}" "$top" "$folder/html"
echo "Built $folder/html/index.html"
