#!/usr/bin/env bash
# Prints the folder of LAMMPS' sources, without building LAMMPS: the one that FILE, an initial cache
# for CMake, names, or the one of lammps-source.sh. Messages go to standard error.
# Usage: lammps-tree.sh FILE
# Environment: LAMMPS_RELEASE, LAMMPS_SOURCE_DIR and LAMMPS_TARBALL, which take precedence over FILE;
# GPUCOORD_CACHE.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if [ -z "${LAMMPS_RELEASE:-}${LAMMPS_SOURCE_DIR:-}${LAMMPS_TARBALL:-}" ]; then
  tree=$(sed -n 's/^set(LAMMPS_SOURCE_DIR \[\[\(.*\)\]\].*/\1/p' "$1" 2>/dev/null || true)
  if [ -n "$tree" ] && [ -d "$tree" ]; then
    echo "$tree"
    exit
  fi
fi
# shellcheck source=cmake/lammps-release.sh
. "$here/lammps-release.sh"
cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)
# A build of LAMMPS holds the lock. A tree under its final name is complete.
lock=(flock "$cache/lammps-$LAMMPS_NUMBER.lock")
[ ! -d "$cache/lammps-$LAMMPS_NUMBER" ] || lock=()
"${lock[@]}" "$here/lammps-source.sh" "$cache"
