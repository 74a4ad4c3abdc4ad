# Sourced by the run.sh of each example with its own arguments. Leaves lmp, the program, and folder, that of the
# example; goes to the output folder, so that the committed files stay as they are.
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

# nproc would answer OMP_NUM_THREADS instead of the number of cores
cores=$(env -u OMP_NUM_THREADS nproc)
export OMP_NUM_THREADS=1

# lammps ARGUMENTS: on two ranks where there are two cores
lammps() {
  local launch=()
  if [ "$cores" -gt 1 ] && command -v mpirun >/dev/null; then
    # Open MPI refuses to start as root, as in a container, unless it is told twice.
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    # A rank that waits gives its core away: matters where other programs run as well.
    export OMPI_MCA_mpi_yield_when_idle=1
    launch=(mpirun -np 2)
  fi
  "${launch[@]}" "$lmp" "$@" </dev/null
}
