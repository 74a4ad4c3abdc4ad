#!/usr/bin/env bash
# Runs the example on up to 2 cores and analyzes it. Usage: run.sh [OUTPUT FOLDER]
# STEPS: timesteps per walker [400000]; LMP: LAMMPS with GPUCOORD [../../../build/lmp]; PYTHON [/usr/bin/python3]
set -euo pipefail
. "$(dirname "$0")/../../common.sh"
rm -f KERNELS.* walkers.? single bck.* log.*    # outputs of an earlier run
cp "$folder"/{in.walkers,in.single,pair.system} .
steps=${STEPS:-400000}

# Eight processes share two cores: Open MPI allows it by the last two variables.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpirun -np 8 "$lmp" -partition 8x1 -in in.walkers -log log.walkers -screen none -pscreen none -nocite \
  -var steps "$steps" </dev/null
"$lmp" -in in.single -log log.single -screen none -nocite -var steps $((8 * steps))
"${PYTHON:-/usr/bin/python3}" "$folder/analyze.py" .
echo "Results are in $PWD"
