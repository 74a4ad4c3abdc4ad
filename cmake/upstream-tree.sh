#!/usr/bin/env bash
# Makes a LAMMPS tree with the GPUCOORD package (upstream.sh) of links to another tree, which stays
# unchanged. A second call updates the package.
# Usage: upstream-tree.sh LAMMPS_TREE NEW_TREE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
lammps=$(cd "${1:?usage: upstream-tree.sh LAMMPS_TREE NEW_TREE}" && pwd -P)
tree=${2:?usage: upstream-tree.sh LAMMPS_TREE NEW_TREE}
if [ "$(cat "$tree/.links-to" 2>/dev/null)" != "$lammps" ]; then
  rm -rf "$tree"
  mkdir -p "$(dirname "$tree")"
  cp -Rs "$lammps" "$tree"
  find "$tree" -type d -exec chmod u+w {} +
  echo "$lammps" >"$tree/.links-to"
fi
"$here/upstream.sh" "$tree"
