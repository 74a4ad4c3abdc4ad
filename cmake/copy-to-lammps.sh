#!/usr/bin/env bash
# Copies the GPUCOORD package into a LAMMPS source tree. LAMMPS then builds it with -D
# PKG_GPUCOORD=on.
# Usage: copy-to-lammps.sh LAMMPS_TREE
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
tree=${1:?usage: copy-to-lammps.sh LAMMPS_TREE}
list=$tree/cmake/CMakeLists.txt
[ -f "$list" ] || { echo "Error: $tree is no LAMMPS source tree: it has no cmake/CMakeLists.txt" >&2; exit 1; }

# Adds GPUCOORD to the list of packages, and to the list of packages with a file in Packages/, after
# KOKKOS.
if grep -q GPUCOORD "$list"; then
  new_list=$(cat "$list")
else
  new_list=$(sed -e 's/^ *GRANULAR$/  GPUCOORD\n&/' \
    -e 's/^\(foreach(PKG_WITH_INCL CORESHELL .* KOKKOS .*\))$/\1 GPUCOORD)/' "$list")
fi
[ "$(grep -c GPUCOORD <<<"$new_list")" = 2 ] || {
  echo "Error: $list has other lists of packages than the supported LAMMPS releases: add GPUCOORD to STANDARD_PACKAGES and to" \
    "foreach(PKG_WITH_INCL ... KOKKOS ...), and try again" >&2
  exit 1
}

# Remove files of an older version first: CMake would compile those that this version no longer has.
rm -rf "$tree/src/GPUCOORD" "$tree/lib/gpucoord"
mkdir -p "$tree/src/GPUCOORD" "$tree/src/KOKKOS" "$tree/lib/gpucoord"
cp "$here"/src/GPUCOORD/* "$tree/src/GPUCOORD"
cp "$here"/src/KOKKOS/* "$tree/src/KOKKOS"
rm -f "$tree"/src/GPUCOORD/*plugin.cpp "$tree"/src/KOKKOS/gpucoord_kokkos_plugin.cpp    # belong to the plugin
cp -R "$here"/lib/gpucoord/* "$tree/lib/gpucoord"
cp "$here/cmake/Modules/Packages/GPUCOORD.cmake" "$tree/cmake/Modules/Packages"
printf '%s\n' "$new_list" >"$list.new"
mv -f "$list.new" "$list"
