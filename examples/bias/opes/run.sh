#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER [OUTPUT FOLDER OF bias/salt]]
# PLUMED_KERNEL: PLUMED's libplumedKernel.so; STEPS [160000]; LMP [../../../build/lmp]; PYTHON [/usr/bin/python3]
set -euo pipefail
windows=${2:+$(realpath "$2")}
[ -z "$windows" ] || [ -e "$windows/windows.dat" ] || {
  echo "run.sh: there is no $windows/windows.dat: give the output folder of a run of examples/bias/salt, or none" >&2
  exit 1
}
case ${1:-} in
  -*) ;;
  *)
    [ -e "${PLUMED_KERNEL:-}" ] || {
      echo "run.sh: PLUMED_KERNEL is '${PLUMED_KERNEL:-}': set it to PLUMED's file libplumedKernel.so" >&2
      exit 1
    }
    PLUMED_KERNEL=$(realpath "$PLUMED_KERNEL")
    export PLUMED_KERNEL
    ;;
esac
. "$(dirname "$0")/../../common.sh"
salt=$(realpath --relative-to=. "$folder/../../coordination")
rm -f COLVAR KERNELS bck.*    # outputs of an earlier run

lammps -in "$folder/in.opes" -var salt "$salt" -var input "$folder/plumed.dat" \
  -var steps "${STEPS:-160000}" -log log.opes
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" . ${windows:+"$windows"}
echo "Results are in $PWD"
