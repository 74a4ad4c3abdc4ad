#!/usr/bin/env bash
# Runs the library tests of build/ with a library that has address and undefined-behavior sanitizers. The
# programs of the tests are not compiled again: memory that they allocate is watched all the same.
# Environment: JOBS, PYTHON.
set -euo pipefail
cd "$(dirname "$0")/.."
cmake --preset sanitizers -C build/lammps.cmake -D PYTHON="${PYTHON:-/usr/bin/python3}" >build/sanitizers.log
cmake/ninja-progress.sh "library with sanitizers" build/sanitizers gpucoord

# test_bin_grid, and RefusesBadBins of maps, are about functions of the CUDA backend, which this library lacks.
programs=$(ctest --test-dir build -N -R '^lib/' | sed -n 's|.*: lib/\([a-z_0-9]*\)/.*|\1|p' | sort -u | grep -vx test_bin_grid)
GPUCOORD_TEST_DATA=$(sed -n 's/^GPUCOORD_TEST_DATA:PATH=//p' build/CMakeCache.txt)
export GPUCOORD_TEST_DATA OMP_WAIT_POLICY=passive    # else waiting threads keep cores that the other programs need
run() {
  log=build/sanitizers/$1.log
  LD_PRELOAD=$(g++ -print-file-name=libasan.so):$(g++ -print-file-name=libubsan.so) LD_LIBRARY_PATH=$PWD/build/sanitizers/plugin \
    "build/unittest/$1" --gtest_brief=1 --gtest_filter=-PotentialMap.refuses_bad_bins >"$log" 2>&1 ||
    { cat "$log"; echo "FAILED $1"; return 1; }
}
export -f run
xargs -P "${JOBS:-$(nproc)}" -I {} bash -c 'run {}' <<<"$programs"
echo "$(wc -w <<<"$programs") programs passed with sanitizers"
