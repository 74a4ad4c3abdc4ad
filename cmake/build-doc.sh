#!/usr/bin/env bash
# Builds the documentation as HTML in FOLDER/html, with Sphinx and without a network. Each warning
# of Sphinx is an error. All pages are built, since Sphinx repeats no warnings of unchanged pages.
# Usage: build-doc.sh LAMMPS_TREE FOLDER
# Environment: DOC_SOURCE_URL, PYTHON.
set -euo pipefail
top=$(cd "$(dirname "$0")/.." && pwd -P)
lammps=${1:?usage: build-doc.sh LAMMPS_TREE FOLDER}
folder=${2:?usage: build-doc.sh LAMMPS_TREE FOLDER}
python=${PYTHON:-/usr/bin/python3}

mathjax=/usr/share/javascript/mathjax
if ! "$python" -c 'import myst_parser, sphinx, sphinx_rtd_theme' || [ ! -e $mathjax/MathJax.js ]; then
  echo "Error: make doc needs MathJax 2 in $mathjax, and for $python Sphinx 5.1 or newer, MyST-Parser" \
    "and the Read the Docs theme. Debian's packages of them are libjs-mathjax, python3-sphinx," \
    "python3-myst-parser and python3-sphinx-rtd-theme." >&2
  exit 1
fi
rm -rf "$folder"
"$python" -B -m sphinx -q -W --keep-going -j auto -c "$top/doc/sphinx" -d "$folder/doctrees" \
  -D lammps_tree="$(realpath "$lammps")" -D source_url="${DOC_SOURCE_URL:-}" "$top" "$folder/html"
echo "Built $folder/html/index.html"
