#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyses it. Usage: run.sh [OUTPUT FOLDER]
# LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON: a Python with numpy and matplotlib [/usr/bin/python3]
set -euo pipefail
case ${1:-} in -*)
  sed -n '2,3s/^# //p' "$0"
  exit 0
esac
folder=$(cd "$(dirname "$0")" && pwd)
lmp=$(command -v "${LMP:-$folder/../../../build/lmp}") || {
  echo "run.sh: there is no ${LMP:-build/lmp}: run make first, or set LMP to a LAMMPS with GPUCOORD" >&2
  exit 1
}
lmp=$(cd "$(dirname "$lmp")" && pwd)/$(basename "$lmp")

# It runs in a folder of its own, so that the committed files stay as they are.
output=${1:-$folder/output}
mkdir -p "$output"
cd "$output"
salt=$(realpath --relative-to=. "$folder/../../coordination")

# nproc would answer OMP_NUM_THREADS instead of the number of cores
cores=$(env -u OMP_NUM_THREADS nproc)
export OMP_NUM_THREADS=1
launch=()
if [ "$cores" -gt 1 ] && command -v mpirun >/dev/null; then
  # Open MPI refuses to start as root, as in a container, unless it is told twice.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  # A rank that waits gives its core away: matters where other programs run as well.
  export OMPI_MCA_mpi_yield_when_idle=1
  launch=(mpirun -np 2)
fi
for part in pull windows; do
  "${launch[@]}" "$lmp" -in "$folder/in.$part" -var salt "$salt" -log "log.$part" </dev/null
done
"${PYTHON:-/usr/bin/python3}" "$folder/analyse.py" .
echo "Results are in $PWD"
