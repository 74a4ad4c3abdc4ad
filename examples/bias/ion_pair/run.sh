#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# PLUMED_KERNEL: PLUMED's libplumedKernel.so; STEPS [160000]; LMP [../../../build/lmp]; PYTHON [/usr/bin/python3]
set -euo pipefail
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

lammps -in "$folder/in.ion_pair" -var salt "$salt" -var input "$folder/plumed.dat" -var steps "${STEPS:-160000}" \
  -log log.ion_pair
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
