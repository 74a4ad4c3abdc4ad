#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
cp "$folder"/{in.ethylene_oxide,ethylene_oxide.multisite} .

lammps -in in.ethylene_oxide -log log.inf -var rf inf -var name inf
lammps -in in.ethylene_oxide -log log.10 -var rf 10.0 -var name 10
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
