#!/usr/bin/env bash
# compare-with.sh [-b BUILD] COMMIT [options of dump.py]: builds the plugin and the library tests of a
# commit in a temporary clone, host only and for the LAMMPS of BUILD (default: build), runs dump.py of
# this tree with both, and compares all numbers and the lists of tests. Exit status 1: they differ.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build
while getopts b: option; do
  case $option in
    b) build=$(cd "$OPTARG" && pwd) ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
if [ $# -lt 1 ]; then
  sed -n '2,4s/^# //p' "$0" >&2
  exit 2
fi
commit=$(git -C "$root" rev-parse --verify "$1^{commit}")
shift

cached() { sed -n "s/^$1:[A-Z]*=//p" "$build/CMakeCache.txt"; }
python=$(cached PYTHON)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

build_both() {
  cmake --build "$1" --target gpucoordplugin library_tests -j "${JOBS:-$(nproc)}" >"$folder/log" 2>&1 ||
    { tail -n 30 "$folder/log"; exit 2; }
}
cmake -D BUILD_TESTING=on "$build" >"$folder/log" 2>&1 || { tail -n 30 "$folder/log"; exit 2; }
build_both "$build"
git clone -q --no-checkout "$root" "$folder/clone"
git -C "$folder/clone" checkout -q "$commit"
old=$folder/clone/build
cmake -S "$folder/clone" -B "$old" -G "$(cached CMAKE_GENERATOR)" -D GPUCOORD_CUDA=OFF \
  -D LAMMPS_SOURCE_DIR="$(cached LAMMPS_SOURCE_DIR)" -D LAMMPS_BUILD_DIR="$(cached LAMMPS_BUILD_DIR)" \
  -D PYTHON="$python" -D CMAKE_BUILD_TYPE="$(cached CMAKE_BUILD_TYPE)" \
  -D CMAKE_CXX_COMPILER="$(cached CMAKE_CXX_COMPILER)" -D CMAKE_CXX_FLAGS="$(cached CMAKE_CXX_FLAGS)" \
  >"$folder/log" 2>&1 || { tail -n 30 "$folder/log"; exit 2; }
build_both "$old"

status=0
for side in old new; do
  if [ $side = old ]; then from=$old; else from=$build; fi
  echo "$side: $(git -C "$from" log -1 --format='%h %s')"
  "$python" "$root/unittest/baseline/dump.py" "$from" "$folder/$side" "$@"
  ctest --test-dir "$from" -N | sed -n 's/^ *Test *#[0-9]*: //p' | sort >"$folder/$side.tests"
done
"$python" "$root/unittest/baseline/compare.py" "$folder/old" "$folder/new" || status=1

# GPU and KOKKOS tests of the build that the host-only clone does not have are left out.
grep -v '^gpu/\|^kokkos/' "$folder/old.tests" >"$folder/old.host" || true
grep -v '^gpu/\|^kokkos/' "$folder/new.tests" >"$folder/new.host" || true
gone=$(comm -23 "$folder/old.host" "$folder/new.host")
added=$(comm -13 "$folder/old.host" "$folder/new.host")
[ -z "$gone" ] || { echo "tests gone:"; echo "$gone" | sed 's/^/  /'; status=1; }
[ -z "$added" ] || { echo "tests added:"; echo "$added" | sed 's/^/  /'; }
echo "tests: $(wc -l <"$folder/old.host") before, $(wc -l <"$folder/new.host") after"
exit $status
