#!/usr/bin/env bash
# Runs the example, two processes at a time, and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
rm -f HILLS.* metad.* umbrella.* log.*    # outputs of an earlier run
cp "$folder"/{in.metad,in.umbrella,springs.system} .

xargs -P 2 -L 1 "$lmp" -screen none -nocite -in <<END || { grep ERROR log.* >&2; exit 1; }
in.metad -log log.metad.1 -var walker 1
in.metad -log log.metad.2 -var walker 2
in.metad -log log.metad.3 -var walker 3
in.metad -log log.metad.4 -var walker 4
in.umbrella -log log.umbrella.1 -var s0 0.0 0.4 0.8 1.2 1.6
in.umbrella -log log.umbrella.2 -var s0 2.0 2.4 2.8 3.2 3.6 4.0
END
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
