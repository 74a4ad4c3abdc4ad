#!/usr/bin/env bash
# Prints the path of clang-format in the version of cmake/clang-format.txt: Debian's if it is
# installed, otherwise PyPI's, in the cache. Without a network it prints the reason and no path; with
# GPUCOORD_REQUIRE_WHEELS=1, it fails instead.
# Environment: GPUCOORD_CACHE, GPUCOORD_REQUIRE_WHEELS, PYTHON.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
list=$here/clang-format.txt
version=$(sed -n 's/^clang-format==\([0-9.]*\) .*/\1/p' "$list")

for program in clang-format-"${version%%.*}" clang-format; do
  path=$(command -v "$program") || continue
  [[ $("$path" --version) =~ "version $version"([^0-9.]|$) ]] || continue
  echo "$path"
  exit 0
done

give_up() {
  printf '%s\n' "$*" >&2
  [ "${GPUCOORD_REQUIRE_WHEELS:-0}" = 1 ] && exit 1
  exit 0
}

[ "$(uname -m)" = x86_64 ] || give_up "There is no clang-format $version, and PyPI's pinned one is for x86-64"
folder=$("$here/get-wheels.sh" "$list" clang-format "Getting clang-format $version from PyPI (about 1 MB, once)" \
  clang_format/clang_format/data/bin/clang-format) ||
  give_up "There is no clang-format $version, and PyPI's could not be downloaded"
echo "$folder/clang_format/clang_format/data/bin/clang-format"
