# The run.sh of each example sources this file and passes its arguments. Sets lmp, the LAMMPS
# program, and folder, the folder of the example. Changes to the output folder, so that no committed
# file is overwritten.
case ${1:-} in -*)
  sed -n '2,3s/^# //p' "$0"
  exit 0
esac
folder=$(cd "$(dirname "$0")" && pwd)
lmp=$(command -v "${LMP:-$(dirname "${BASH_SOURCE[0]}")/../build/lmp}") || {
  echo "run.sh: there is no ${LMP:-build/lmp}: run make first, or set LMP to a LAMMPS with GPUCOORD" >&2
  exit 1
}
lmp=$(cd "$(dirname "$lmp")" && pwd)/$(basename "$lmp")
output=${1:-$folder/output}
mkdir -p "$output"
cd "$output"

# With OMP_NUM_THREADS, nproc prints its value instead of the number of cores.
cores=$(env -u OMP_NUM_THREADS nproc)
export OMP_NUM_THREADS=1

# lammps ARGUMENTS: runs LAMMPS on two ranks if the machine has two cores or more
lammps() {
  local launch=()
  if [ "$cores" -gt 1 ] && command -v mpirun >/dev/null; then
    # Open MPI runs as root, as in a container, only with both variables.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # Waiting ranks yield their core to other programs.
    export OMPI_MCA_mpi_yield_when_idle=1
    launch=(mpirun -np 2)
  fi
  "${launch[@]}" "$lmp" "$@" </dev/null
}
