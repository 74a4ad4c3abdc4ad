#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
cp "$folder"/{in.ethane,ethane.multisite} .

lammps -in in.ethane -log log.236 -var T 236.0 -var p 10.856 -var name 236
lammps -in in.ethane -log log.256 -var T 256.0 -var p 17.765 -var name 256
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
