#!/usr/bin/env bash
# Turns a LAMMPS source tree into one that has the GPUCOORD package, as a pull request to LAMMPS would:
# sources, pages of the manual, lists of packages and styles, tests and examples. LAMMPS then builds
# the package with -D PKG_GPUCOORD=on. A second call updates the package.
# Usage: upstream.sh LAMMPS_TREE [@ACCOUNT...]
#   @ACCOUNT  GitHub accounts of maintainers, for .github/CODEOWNERS, which stays unchanged without
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
tree=${1:?usage: upstream.sh LAMMPS_TREE [@ACCOUNT...]}
[ -f "$tree/cmake/CMakeLists.txt" ] || {
  echo "Error: $tree is not a LAMMPS source tree: it has no cmake/CMakeLists.txt" >&2
  exit 1
}

python3 "$here/cmake/upstream/insert.py" "$@"    # changes nothing if it fails

new=$(mktemp -d)
trap 'rm -rf "$new"' EXIT
collect() {  # FOLDER FILE...
  mkdir -p "$new/$1"
  cp "${@:2}" "$new/$1"
}

# Sources, without the plugin
collect src/GPUCOORD "$here"/src/GPUCOORD/*.{cpp,h,sh}
collect src/KOKKOS "$here"/src/KOKKOS/*.{cpp,h}
rm "$new"/src/GPUCOORD/*plugin.* "$new"/src/KOKKOS/*plugin.cpp
sed -e '/^[a-z_]*plugin /d' -e '/^Documentation:/,$d' "$here/src/GPUCOORD/README" >"$new/src/GPUCOORD/README"
mkdir "$new/lib"
cp -R "$here/lib/gpucoord" "$new/lib"
collect cmake/Modules/Packages "$here/cmake/Modules/Packages/GPUCOORD.cmake"

# Pages and tests
collect doc/src "$here"/doc/src/*.rst
collect doc/src/img "$here"/doc/src/img/*.png
collect unittest/force-styles/tests "$here"/unittest/force-styles/tests/*.yaml

# Examples: inputs and logs
examples=examples/PACKAGES/gpucoord
collect $examples "$here/cmake/upstream/examples/README"
while IFS= read -r file; do
  install -D -m 644 "$here/examples/$file" "$new/$examples/$file"
done < <(cd "$here/examples" && find . -path ./python -prune -o -type f \( -name 'in.*' -o -name 'data.*' -o -name 'forcefield.*' \
  -o -name '*.multisite' -o -name '*.system' -o -name 'plumed.dat' -o -name 'log.4Jul26.*' \) -print)

# Unchanged files keep their times, so that LAMMPS compiles only the changed ones. Files of an older
# version of the package are removed, because CMake would compile them.
for folder in src/GPUCOORD lib/gpucoord $examples; do
  [ ! -d "$tree/$folder" ] || (cd "$tree" && find "$folder" -type f -o -type l) | while IFS= read -r file; do
    [ -e "$new/$file" ] || rm "$tree/$file"
  done
done
(cd "$new" && find . -type f) | while IFS= read -r file; do
  cmp -s "$new/$file" "$tree/$file" || install -D -m 644 "$new/$file" "$tree/$file"
done
