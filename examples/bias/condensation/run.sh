#!/usr/bin/env bash
# Runs the example and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
rm -f log.condensation dump.condensation    # outputs of an earlier run
"$lmp" -in "$folder/in.condensation" -log log.condensation -screen none -nocite || { grep ERROR log.condensation >&2; exit 1; }
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
