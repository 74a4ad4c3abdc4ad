#!/usr/bin/env bash
# Git's hook before a commit (make hooks): the format of the staged C++ and CUDA files, as they are in
# the working tree, and the structure of lib/gpucoord, in a few seconds. git commit --no-verify skips it.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"
python=${PYTHON:-/usr/bin/python3}
mapfile -t staged < <(git diff --cached --name-only --diff-filter=ACMR -- '*.h' '*.cpp' '*.cu' '*.cuh')
status=0
if [ "${#staged[@]}" -gt 0 ]; then
  clang_format=$(cmake/clang-format.sh)
  "$python" cmake/check-format.py "$clang_format" "${staged[@]}" || status=1
fi
"$python" cmake/check-structure.py --no-compiler || status=1
exit $status
