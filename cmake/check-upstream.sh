#!/usr/bin/env bash
# Makes FOLDER/lammps, a LAMMPS tree with the GPUCOORD package, and runs LAMMPS' checks of
# style, the build of the pages of the manual, and their spelling on it (cmake/upstream/check.py,
# manual.py). Sphinx and clang-format come from PyPI. Without a network, the checks that need them are skipped,
# with a message; with GPUCOORD_REQUIRE_WHEELS=1 it fails instead.
# Usage: check-upstream.sh LAMMPS_TREE FOLDER [manual]
#   manual  builds all pages of LAMMPS' manual, which takes minutes, not only those of the package
# Environment: GPUCOORD_CACHE, GPUCOORD_REQUIRE_WHEELS, PYTHON.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -lt 3 ] || [ "$3" = manual ] || { echo "Error: '$3' is no check: give manual, or nothing" >&2; exit 1; }
lammps=${1:?usage: check-upstream.sh LAMMPS_TREE FOLDER} folder=${2:?usage: check-upstream.sh LAMMPS_TREE FOLDER}
python=${PYTHON:-/usr/bin/python3}

rm -rf "$folder/lammps"
"$here/upstream-tree.sh" "$lammps" "$folder/lammps"

status=0
clang_format=$("$here/clang-format.sh")
# shellcheck disable=SC2086  # no argument without clang-format
"$python" "$here/upstream/check.py" "$folder/lammps" $clang_format || status=1
if wheels=$("$here/get-wheels.sh" "$here/upstream/sphinx.txt" sphinx "Getting Sphinx from PyPI (about 20 MB, once)"); then
  PYTHONPATH=$(printf '%s:' "$wheels"/*) "$python" "$here/upstream/manual.py" "$folder/lammps" "$lammps" "$folder/manual" ${3:+--all} || status=1
else
  echo "SKIPPED  pages of the manual: Sphinx could not be downloaded"
  [ "${GPUCOORD_REQUIRE_WHEELS:-0}" != 1 ] || status=1
fi
exit $status
