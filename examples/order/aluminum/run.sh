#!/usr/bin/env bash
# Runs the example and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# STEPS, BULK, CELLS, LENGTH, FREEZING, POTENTIALS, ARGS, LMP, PYTHON: see README.md
set -euo pipefail
source=$(sed -n 's/^set(LAMMPS_SOURCE_DIR \[\[\(.*\)\]\].*/\1/p' "$(dirname "$0")/../../../build/lammps.cmake" 2>/dev/null) || true
. "$(dirname "$0")/../../common.sh"
rm -f HILLS bck.* bulk.* log.*    # outputs of an earlier run

# LAMMPS finds the file of the potential by this variable.
export LAMMPS_POTENTIALS=${POTENTIALS:-${LAMMPS_POTENTIALS:-$source/potentials}}
potential=Al_mm.eam.fs
[ -e "$LAMMPS_POTENTIALS/$potential" ] || {
  echo "run.sh: there is no $LAMMPS_POTENTIALS/$potential: set POTENTIALS to the folder potentials of a LAMMPS source tree" >&2
  exit 1
}
printf 'units metal\npair_style eam/fs\n' | "$lmp" -log none -screen none || {
  echo "run.sh: $lmp has no pair_style eam/fs: run make LAMMPS_PACKAGES=MANYBODY, or set LMP to a LAMMPS with MANYBODY" >&2
  exit 1
}

read -ra words <<<"${ARGS:-}"

# temperature T: both inputs of interface pinning at one temperature
temperature() {
  "$lmp" "${words[@]}" -in "$folder/in.bulk" -var t "$1" -var steps "${BULK:-20000}" -var cells "${CELLS:-6}" \
    -log "log.bulk.$1" -screen none -nocite </dev/null &&
    "$lmp" "${words[@]}" -in "$folder/in.pinning" -var t "$1" -var steps "${STEPS:-20000}" -var cells "${CELLS:-6}" \
      -var length "${LENGTH:-12}" -log "log.pinning.$1" -screen none -nocite </dev/null
}

failed=0
"$lmp" "${words[@]}" -in "$folder/in.freezing" -var steps "${FREEZING:-1000000}" -log log.freezing -screen none \
  -nocite </dev/null &
processes=($!)
for t in 880 920 960; do
  if [ -n "${ARGS:-}" ]; then    # all processes at the same time: they share the GPU
    temperature $t &
    processes+=($!)
  else                           # one after the other, on the second core
    temperature $t || failed=1
  fi
done
for process in "${processes[@]}"; do wait "$process" || failed=1; done
[ $failed = 0 ] || { grep ERROR log.* >&2; exit 1; }

"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
