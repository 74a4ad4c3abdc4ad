#!/usr/bin/env bash
# Runs the example and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# STEPS, BULK, CELLS, LENGTH, FREEZING, POTENTIALS, ARGS, LMP, PYTHON: see README.md
set -euo pipefail
source=$(sed -n 's/^set(LAMMPS_SOURCE_DIR \[\[\(.*\)\]\].*/\1/p' "$(dirname "$0")/../../../build/lammps.cmake" 2>/dev/null) || true
. "$(dirname "$0")/../../common.sh"
rm -f HILLS bck.* bulk.* log.*    # of an earlier run

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

# temperature T COMMAND...: both inputs of interface pinning at one temperature
temperature() {
  local t=$1
  shift
  "$@" "${words[@]}" -in "$folder/in.bulk" -var t "$t" -var steps "${BULK:-10000}" -var cells "${CELLS:-6}" \
    -log "log.bulk.$t" -screen none -nocite &&
    "$@" "${words[@]}" -in "$folder/in.pinning" -var t "$t" -var steps "${STEPS:-20000}" -var cells "${CELLS:-6}" \
      -var length "${LENGTH:-12}" -log "log.pinning.$t" -screen none -nocite
}

# freezing COMMAND...
freezing() {
  "$@" "${words[@]}" -in "$folder/in.freezing" -var steps "${FREEZING:-1000000}" -log log.freezing -screen none -nocite
}

failed=0
if [ -n "${ARGS:-}" ]; then
  # All processes at the same time: they share the GPU
  freezing "$lmp" &
  processes=($!)
  for t in 880 920 960; do
    temperature $t "$lmp" &
    processes+=($!)
  done
  for process in "${processes[@]}"; do wait "$process" || failed=1; done
else
  # One after the other, on up to 2 cores. The 256 atoms of in.freezing run on one.
  freezing "$lmp" </dev/null || failed=1
  for t in 880 920 960; do temperature $t lammps || failed=1; done
fi
[ $failed = 0 ] || { grep ERROR log.* >&2; exit 1; }

"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
