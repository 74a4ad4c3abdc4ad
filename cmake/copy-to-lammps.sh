#!/usr/bin/env bash
# Copies the GPUCOORD package into a LAMMPS source tree, which then builds it with -D PKG_GPUCOORD=on.
# Usage: copy-to-lammps.sh LAMMPS_TREE
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
tree=${1:?usage: copy-to-lammps.sh LAMMPS_TREE}
list=$tree/cmake/CMakeLists.txt
[ -f "$list" ] || { echo "Error: $tree is no LAMMPS source tree: it has no cmake/CMakeLists.txt" >&2; exit 1; }

# the list of packages, and that of packages with a file in Packages/
if grep -q GPUCOORD "$list"; then
  new_list=$(cat "$list")
else
  new_list=$(sed -e 's/^ *GRAPHICS$/  GPUCOORD\n&/' -e 's/^foreach(PKG_WITH_INCL GRAPHICS /&GPUCOORD /' "$list")
fi
[ "$(grep -c GPUCOORD <<<"$new_list")" = 2 ] || {
  echo "Error: $list has other lists of packages than LAMMPS 4 Jul 2026: add GPUCOORD to STANDARD_PACKAGES and to" \
    "foreach(PKG_WITH_INCL ...), and try again" >&2
  exit 1
}

mkdir -p "$tree/src/GPUCOORD" "$tree/src/KOKKOS" "$tree/lib/gpucoord"
cp "$here"/src/GPUCOORD/* "$tree/src/GPUCOORD"
cp "$here"/src/KOKKOS/* "$tree/src/KOKKOS"
rm -f "$tree"/src/GPUCOORD/*plugin.cpp "$tree"/src/KOKKOS/gpucoord_kokkos_plugin.cpp    # of the plugin alone
cp -R "$here"/lib/gpucoord/* "$tree/lib/gpucoord"
cp "$here/cmake/Modules/Packages/GPUCOORD.cmake" "$tree/cmake/Modules/Packages"
rm -f "$list"    # may be a link
printf '%s\n' "$new_list" >"$list"
