#!/usr/bin/env bash
# run-gpu-tests.sh BUILD_DIR [ctest options]: all tests with the label gpu, on a machine that must have a GPU, and where it
# has two, those with the label gpu2. The last line says how many passed.
set -uo pipefail
dir=${1:?usage: run-gpu-tests.sh BUILD_DIR [ctest options]}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
labels='^gpu$' gpus=1
if GPUCOORD_REQUIRE_GPU=0 "$dir/unittest/find_gpu" 2 >/dev/null; then labels='^gpu2?$' gpus=2; fi
GPUCOORD_REQUIRE_GPU=$gpus ctest --test-dir "$dir" --label-regex "$labels" --output-on-failure "${@:2}" | tee "$log"
# Here a skipped test has not passed, which ctest sees otherwise.
read -r passed all < <(awk '/^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / { all++; if (/ Passed /) passed++ }
                            END { print passed + 0, all + 0 }' "$log")
echo "GPU tests: $passed of $all passed"
[ "$all" -gt 0 ] && [ "$passed" -eq "$all" ]
