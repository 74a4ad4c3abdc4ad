#!/usr/bin/env bash
# Runs ninja and shows about 20 lines of progress instead of one line per file.
# Usage: ninja-progress.sh TITLE BUILD_DIR [ninja arguments]. The full output is BUILD_DIR/build.log.
set -euo pipefail

title=$1
dir=$2
shift 2
log=$dir/build.log

show() {
  local line shown=0 percent
  while IFS= read -r line; do
    [[ $line =~ ^\[\ *([0-9]+)%\ ([0-9/]+)\] ]] || continue
    percent=$((BASH_REMATCH[1] / 5 * 5))
    if [ "$percent" != "$shown" ]; then
      printf '%s: %3d %%  (%s files)\n' "$title" "$percent" "${BASH_REMATCH[2]}"
      shown=$percent
    fi
  done
}

export NINJA_STATUS='[%p %f/%t] '
if ! ninja -C "$dir" -j "${JOBS:-$(nproc)}" "$@" 2>&1 | tee "$log" | show; then
  tail -n 40 "$log" >&2
  echo "Error: $title failed. The lines above are the last of $log" >&2
  exit 1
fi
