#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# CELLS [6], STEPS [40000], EVERY [2000], PACE [200], END [500]: see README; LMP [../../../build/lmp]; PYTHON [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
rm -f HILLS bck.* dump.* log.* data.*    # outputs of an earlier run

# simulate NAME ARGUMENTS: writes log.NAME
simulate() {
  lammps -var folder "$folder" -log "log.$1" -screen none -nocite "${@:2}" || { grep ERROR "log.$1" >&2; exit 1; }
}
run=(-var steps "${STEPS:-40000}" -var every "${EVERY:-2000}" -var pace "${PACE:-200}" -var end "${END:-500}")
for structure in fcc hcp; do
  simulate "$structure" -in "$folder/in.crystal" -var structure "$structure"
  simulate "clusters.$structure" -in "$folder/in.clusters" -var name "$structure" -var data "data.$structure"
done
simulate liquid -in "$folder/in.liquid" -var cells "${CELLS:-6}"
simulate biased -in "$folder/in.nucleation" "${run[@]}"
simulate unbiased -in "$folder/in.nucleation" "${run[@]}" -var bias no
for name in biased unbiased; do
  simulate "clusters.$name" -in "$folder/in.clusters" -var name "$name"
done
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
