#!/usr/bin/env bash
# Runs the example and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
python=${PYTHON:-/usr/bin/python3}
rm -f HILLS series hills.* reweighted.* log.torsion    # outputs of an earlier run
"$lmp" -in "$folder/in.torsion" -log log.torsion -screen none -nocite || { grep ERROR log.torsion >&2; exit 1; }
free_energy="$folder/../../../tools/free_energy.py"
"$python" "$free_energy" HILLS --temp 300 --average 0.5 --bins 180 --zero 3.14 --out hills
"$python" "$free_energy" series --temp 300 --units real --s 'f_b[1]' --bias f_b --offset 'f_b[8]' \
  --periodic 'f_b[1]' -pi pi --discard 0.1 --bins 36 --zero 3.14 --out reweighted
"$python" "$folder/analyze.py" .
echo "Results are in $PWD"
