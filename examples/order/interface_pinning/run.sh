#!/usr/bin/env bash
# Runs the example and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# STEPS [40000], BULK [10000], LENGTH [12], ARGS [none], LMP [../../../build/lmp], PYTHON: see README.md
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
rm -f log.* crystal.*    # outputs of an earlier run

# pressure P COMMAND...: both inputs at one pressure
pressure() {
  local p=$1 words
  read -ra words <<<"${ARGS:-}"
  shift
  "$@" "${words[@]}" -in "$folder/in.bulk" -var p "$p" -var steps "${BULK:-10000}" \
    -log "log.bulk.$p" -screen none -nocite &&
    "$@" "${words[@]}" -in "$folder/in.pinning" -var p "$p" -var steps "${STEPS:-40000}" \
      -var length "${LENGTH:-12}" -log "log.pinning.$p" -screen none -nocite
}

failed=0
if [ -n "${ARGS:-}" ]; then
  # One process for each pressure, all at the same time: they share the GPU
  processes=()
  for p in 1.9 2.2 2.5; do
    pressure $p "$lmp" &
    processes+=($!)
  done
  for process in "${processes[@]}"; do wait "$process" || failed=1; done
else
  # One pressure after the other, on up to 2 cores
  for p in 1.9 2.2 2.5; do pressure $p lammps || failed=1; done
fi
[ $failed = 0 ] || { grep ERROR log.* >&2; exit 1; }

"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
