#!/usr/bin/env bash
# Runs ctest in BUILD_DIR and, because ctest does not say it, why tests were skipped.
set -euo pipefail
dir=$1
while read -r assignment; do
  export "${assignment?}"
done < <("$(dirname "$0")/test-wheels.sh")
status=0
ctest --test-dir "$dir" --output-on-failure || status=$?
awk '/ Testing: / { sub(/.* Testing: /, ""); name = $0 }
     /^SKIPPED: / { sub(/^SKIPPED: /, ""); print "Skipped " name ": " $0 }' "$dir/Testing/Temporary/LastTest.log"
exit "$status"
