#!/usr/bin/env bash
# Turns a LAMMPS source tree into one that has the GPUCOORD package, as a pull request to LAMMPS would:
# sources, pages of the manual, lists of packages and styles, tests and examples. LAMMPS then builds
# the package with -D PKG_GPUCOORD=on. A second call updates the package.
# Usage: upstream.sh LAMMPS_TREE
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
tree=${1:?usage: upstream.sh LAMMPS_TREE}
[ -f "$tree/cmake/CMakeLists.txt" ] || {
  echo "Error: $tree is no LAMMPS source tree: it has no cmake/CMakeLists.txt" >&2
  exit 1
}

python3 "$here/cmake/upstream/insert.py" "$tree"    # changes nothing if it fails

install_files() {  # FOLDER FILE...
  mkdir -p "$tree/$1"
  install -m 644 "${@:2}" "$tree/$1"
}

# Sources, without the plugin. Files of an older version are removed first: CMake would compile those
# that this version no longer has.
rm -rf "$tree/src/GPUCOORD" "$tree/lib/gpucoord" "$tree/examples/PACKAGES/gpucoord"
install_files src/GPUCOORD "$here"/src/GPUCOORD/*.{cpp,h,sh}
install_files src/KOKKOS "$here"/src/KOKKOS/*.{cpp,h}
rm -f "$tree"/src/GPUCOORD/*plugin.cpp "$tree"/src/KOKKOS/*plugin.cpp
sed -e '/^[a-z_]*plugin /d' -e '/^Documentation:/,$d' "$here/src/GPUCOORD/README" >"$tree/src/GPUCOORD/README"
(cd "$here/lib/gpucoord" && find . -type f -print0) | while IFS= read -r -d '' file; do
  install -D -m 644 "$here/lib/gpucoord/$file" "$tree/lib/gpucoord/$file"
done
install_files cmake/Modules/Packages "$here/cmake/Modules/Packages/GPUCOORD.cmake"

# Pages and tests
install_files doc/src "$here"/doc/src/*.rst
install_files unittest/force-styles/tests "$here"/unittest/force-styles/tests/*.yaml

# Examples: inputs, and logs with the names of LAMMPS' own, log.DATE.NAME.g++.RANKS
install_files examples/PACKAGES/gpucoord "$here/cmake/upstream/examples/README"
for file in $(cd "$here/examples" && find . -path ./python -prune -o -type f \( -name 'in.*' -o -name 'data.*' -o -name 'forcefield.*' \
  -o -name '*.multisite' -o -name '*.system' -o -name 'plumed.dat' -o -name 'log.4Jul26.*' \) -print); do
  new=$file
  if [[ $file = */log.* ]]; then
    ranks=$(sed -n 's/^ *\([0-9]*\) by \([0-9]*\) by \([0-9]*\) MPI processor grid$/\1 * \2 * \3/p' "$here/examples/$file")
    ranks=$((${ranks%%$'\n'*}))
    new=${file%."$ranks"}.g++.$ranks
  fi
  install -D -m 644 "$here/examples/$file" "$tree/examples/PACKAGES/gpucoord/$new"
done
