#!/usr/bin/env bash
# Builds LAMMPS once, in a cache that all clones share, and writes FILE, an initial cache for CMake
# (cmake -C FILE) that says where its sources and its build are.
# Usage: lammps-build.sh FILE. Environment: LAMMPS_SOURCE_DIR, LAMMPS_TARBALL, GPUCOORD_CACHE, JOBS.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=cmake/lammps-release.sh
. "$here/lammps-release.sh"
result=$1

# Few packages: what the examples and tests use. Everything that looks for a library of the system
# is off, so that the same build results on every machine.
options=(
  -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=on -D BUILD_MPI=on -D BUILD_OMP=on
  -D FFT=KISS -D WITH_JPEG=off -D WITH_PNG=off -D WITH_FFMPEG=off -D WITH_CURL=off -D DOWNLOAD_POTENTIALS=off
)
for package in MOLECULE KSPACE RIGID ASPHERE DIPOLE COLVARS PLUGIN EXTRA-COMPUTE EXTRA-FIX EXTRA-PAIR OPENMP; do
  options+=(-D "PKG_$package=on")
done

cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)

# One at a time: a second make waits here and then finds the work done.
exec 9>"$cache/lock"
flock -n 9 || { echo "Another build of LAMMPS is running in $cache: waiting for it"; flock 9; }

source_dir=$("$here/lammps-source.sh" "$cache" 9>&-)

# What makes two builds differ; the hash of it names the folder.
key=$( { printf '%s\n' "${options[@]}" "$source_dir"; "${CXX:-c++}" --version; command -v "${CXX:-c++}" mpicxx
         mpicxx --version; mpirun --version || true; } 2>/dev/null | sha256sum | cut -c1-12)
build_dir=$cache/lammps-$LAMMPS_NUMBER-build-$key

if [ ! -e "$build_dir/complete" ] || [ -n "${LAMMPS_SOURCE_DIR:-}" ]; then
  # An interrupted build goes on where it stopped; a tree of the user's may have changed.
  mkdir -p "$build_dir"
  if [ ! -e "$build_dir/complete" ]; then
    echo "Building LAMMPS $LAMMPS_VERSION in $build_dir: once, about 10 minutes on 2 cores"
    cmake -S "$source_dir/cmake" -B "$build_dir" -G Ninja "${options[@]}" >"$build_dir/configure.log" 2>&1 9>&- || {
      tail -n 40 "$build_dir/configure.log" >&2
      echo "Error: LAMMPS could not be configured. The lines above are the last of $build_dir/configure.log" >&2
      exit 1
    }
  fi
  "$here/ninja-progress.sh" LAMMPS "$build_dir" 9>&-
  touch "$build_dir/complete"
fi

mkdir -p "$(dirname "$result")"
cat >"$result" <<EOF
set(LAMMPS_SOURCE_DIR [[$source_dir]] CACHE PATH "top folder of the LAMMPS source tree" FORCE)
set(LAMMPS_BUILD_DIR [[$build_dir]] CACHE PATH "LAMMPS' build folder" FORCE)
EOF
