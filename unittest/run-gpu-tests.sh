#!/usr/bin/env bash
# run-gpu-tests.sh BUILD_DIR [ctest options]: all tests with the label gpu, on a machine that must have a GPU, and where it
# has two, those with the label gpu2. The last line says how many passed. A test that is skipped has not passed and makes
# this fail. Skipped parts of a test are counted: with KOKKOS, LAMMPS lacks some features.
set -uo pipefail
dir=${1:?usage: run-gpu-tests.sh BUILD_DIR [ctest options]}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
labels='^gpu$' gpus=1
if GPUCOORD_REQUIRE_GPU=0 "$dir/unittest/find_gpu" 2 >/dev/null; then labels='^gpu2?$' gpus=2; fi
GPUCOORD_REQUIRE_GPU=$gpus "$(dirname "$0")/../cmake/run-tests.sh" "$dir" -j 2 --label-regex "$labels" "${@:2}" | tee "$log"
status=$?
result=$(tail -n 1 "$log")
echo "GPU tests: ${result#Tests: }"
[ "$status" = 0 ] && [[ $result =~ ^Tests:\ [0-9]+\ of\ [1-9].*,\ 0\ skipped,\ 0\ failed$ ]]
