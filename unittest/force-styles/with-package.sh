#!/usr/bin/env bash
# Runs a tester with LAMMPS that was built from a tree with the package, instead of LAMMPS with the
# plugin.
# Usage: with-package.sh LAMMPS_BUILD TESTER ARGUMENT...
set -euo pipefail
[ -e "$1/lmp" ] || {
  echo "SKIPPED: LAMMPS with the package is not built; make test or the target lammps_with_package builds it"
  exit 77
}
export LD_LIBRARY_PATH=$1:${LD_LIBRARY_PATH:-}
unset LAMMPS_PLUGIN_PATH
exec "${@:2}"
