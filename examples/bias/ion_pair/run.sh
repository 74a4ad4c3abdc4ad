#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# PLUMED_KERNEL: PLUMED's libplumedKernel.so, for the check; STEPS [160000]; LMP [../../../build/lmp]; PYTHON
set -euo pipefail
if [ -n "${PLUMED_KERNEL:-}" ]; then
  [ -e "$PLUMED_KERNEL" ] || {
    echo "run.sh: PLUMED_KERNEL is '$PLUMED_KERNEL': set it to PLUMED's file libplumedKernel.so, or do not set it" >&2
    exit 1
  }
  PLUMED_KERNEL=$(realpath "$PLUMED_KERNEL")
  export PLUMED_KERNEL
fi
. "$(dirname "$0")/../../common.sh"
rm -rf samples COLVAR KERNELS bck.* plumed    # outputs of an earlier run

# run INPUT ARGUMENTS
run() {
  local input=$1
  lammps -in "$folder/in.$input" -var salt "$(realpath --relative-to=. "$folder/../../coordination")" \
    -var steps "${STEPS:-160000}" -log "log.$input" "${@:2}"
}

run ion_pair
if [ -n "${PLUMED_KERNEL:-}" ]; then
  mkdir plumed
  (cd plumed && run plumed -var input "$folder/plumed.dat")
fi
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
