#!/usr/bin/env bash
# run-tests.sh BUILD_DIR [ctest options]: runs the tests, as many at a time as there are cores or JOBS
# says, then lists every skipped test with its reason, and counts. ctest reports a script that skips a
# part as passed. This list reports it as passed in part; the script prints lines
# 'SKIPPED: part: reason'.
set -uo pipefail
dir=$1
forms=$(sed -n 's/^GPUCOORD_FORMS:STRING=//p' "$dir/CMakeCache.txt" 2>/dev/null)
if [ -n "$forms" ]; then
  echo "Error: $dir has only the switching functions $forms (GPUCOORD_FORMS): build all of them to run the tests" >&2
  exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rm -f "$dir/Testing/Temporary/LastTest.log"
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}    # else waiting threads keep cores that the other tests need
ctest --test-dir "$dir" -j "${JOBS:-$(env -u OMP_NUM_THREADS nproc)}" --no-tests=error --output-on-failure "${@:2}" | tee "$log"
status=$?
awk 'FNR == NR && / Test +#[0-9]+: / {
       name = result = $0
       sub(/.* Test +#[0-9]+: /, "", name)
       sub(/ \.\.\..*/, "", name)
       sub(/.* \.\.\.\.*/, "", result)
       all++
       if (result ~ /^ *Passed /) is_passed[name] = 1
       if (result ~ /Skipped /) skipped++
     }
     FNR == NR { next }
     / Testing: / { sub(/.* Testing: /, ""); name = $0 }
     /^SKIPPED: / {
       sub(/^SKIPPED: /, "")
       print "Skipped " name ": " $0
       if (name in is_passed) { parts++; in_part[name] = 1 }
     }
     END {
       passed = length(is_passed)
       partly = length(in_part)
       printf "Tests: %d of %d passed, %d in part (%d parts skipped), %d skipped, %d failed\n",
         passed - partly, all, partly, parts, skipped, all - passed - skipped
     }' "$log" "$dir/Testing/Temporary/LastTest.log" || status=1
exit "$status"
