#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER [OUTPUT FOLDER OF bias/salt]]
# PLUMED_KERNEL: PLUMED's libplumedKernel.so, for the check; STEPS [160000]; LMP [../../../build/lmp]; PYTHON [/usr/bin/python3]
set -euo pipefail
windows=${2:+$(realpath "$2")}
[ -z "$windows" ] || [ -e "$windows/windows.dat" ] || {
  echo "run.sh: there is no $windows/windows.dat: give the output folder of a run of examples/bias/salt, or none" >&2
  exit 1
}
if [ -n "${PLUMED_KERNEL:-}" ]; then
  [ -e "$PLUMED_KERNEL" ] || {
    echo "run.sh: PLUMED_KERNEL is '$PLUMED_KERNEL': set it to PLUMED's file libplumedKernel.so, or do not set it" >&2
    exit 1
  }
  PLUMED_KERNEL=$(realpath "$PLUMED_KERNEL")
  export PLUMED_KERNEL
fi
. "$(dirname "$0")/../../common.sh"
salt=$(realpath --relative-to=. "$folder/../../coordination")
rm -rf samples COLVAR KERNELS bck.* plumed    # outputs of an earlier run

lammps -in "$folder/in.opes" -var salt "$salt" -var steps "${STEPS:-160000}" -log log.opes
if [ -n "${PLUMED_KERNEL:-}" ]; then
  mkdir plumed
  (cd plumed && salt=$(realpath --relative-to=. "$folder/../../coordination") &&
    lammps -in "$folder/in.plumed" -var salt "$salt" -var input "$folder/plumed.dat" -var steps "${STEPS:-160000}" \
      -log log.opes)
fi
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" . ${windows:+"$windows"}
echo "Results are in $PWD"
