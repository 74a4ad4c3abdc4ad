#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [FOLDER [STEPS]], 4,000 steps or more
# LMP: LAMMPS with GPUCOORD [../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../common.sh"
cp "$folder"/{in.coordination,forcefield.salt,data.salt} .

lammps -in in.coordination -log log.coordination ${2:+-var steps "$2"}
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
