#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
cp "$folder"/{in.co2,co2.multisite} .

# along the vapor pressure: K and atm
lammps -in in.co2 -log log.220 -var T 220.0 -var p 5.913 -var name 220
lammps -in in.co2 -log log.240 -var T 240.0 -var p 12.657 -var name 240
lammps -in in.co2 -log log.260 -var T 260.0 -var p 23.872 -var name 260
# without the quadrupole, at the density of experiment
lammps -in in.co2 -log log.bare -var T 240.0 -var ensemble nvt -var start 1.08887 -var model bare -var steps 15000 -var name bare
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
