#!/usr/bin/env bash
# Builds LAMMPS once, in a cache that all clones share. Writes FILE, an initial cache for CMake
# (cmake -C FILE) with the folders of its sources and its build.
# Usage: lammps-build.sh FILE [serial]
# With serial: a small LAMMPS without MPI, with 64-bit atom IDs and few styles.
# Environment: LAMMPS_RELEASE, LAMMPS_SOURCE_DIR, LAMMPS_TARBALL, LAMMPS_PACKAGES, GPUCOORD_CACHE,
# JOBS, and for a LAMMPS with KOKKOS: KOKKOS_SOURCE_DIR, KOKKOS_PREC, GPUCOORD_CUDA, CUDACXX,
# GPUCOORD_CUDA_ARCHITECTURES.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=cmake/lammps-release.sh
. "$here/lammps-release.sh"
result=$1
variant=${2:-}

# The packages that the examples and tests use; examples/order/aluminum needs another one. Options that
# search for system libraries are off, so that all machines build the same LAMMPS.
options=(
  -D CMAKE_BUILD_TYPE=Release -D BUILD_SHARED_LIBS=on -D BUILD_MPI=on -D BUILD_OMP=on
  -D FFT=KISS -D WITH_JPEG=off -D WITH_PNG=off -D WITH_FFMPEG=off -D WITH_CURL=off -D DOWNLOAD_POTENTIALS=off
)
packages=(MOLECULE KSPACE RIGID ASPHERE BODY DIPOLE COLVARS PLUGIN EXTRA-FIX EXTRA-PAIR OPENMP)
minutes=7
if [ "$variant" = serial ]; then    # packages that GPUCOORD uses, styles that it or its test uses; optimization is slow
  styles='atom_vec_atomic;atom_vec_charge;atom_vec_ellipsoid;atom_vec_hybrid;compute_erotate_asphere;compute_pe'
  styles+=';compute_pressure;compute_property_atom;compute_reduce;compute_temp;fix_langevin;fix_nve;fix_nve_asphere;min_cg'
  styles+=';pair_hybrid;pair_zero;region_block'
  options+=(-D BUILD_MPI=off -D BUILD_OMP=off -D LAMMPS_SIZES=bigbig -D CMAKE_BUILD_TYPE=None -D CMAKE_CXX_FLAGS=-O0
            -D "GPUCOORD_LAMMPS_STYLES=$styles")
  packages=(ASPHERE KSPACE PLUGIN)
  minutes=2
  unset KOKKOS_SOURCE_DIR LAMMPS_PACKAGES
fi
for package in "${packages[@]}"; do
  options+=(-D "PKG_$package=on")
done

# Colvars brings Lepton with it, whose just-in-time compiler has as many files as Colvars. Without it,
# custom functions of Colvars are interpreted.
[[ " ${LAMMPS_PACKAGES:-} " == *" LEPTON "* ]] || options+=(-D LEPTON_ENABLE_JIT=off)

die() { printf 'Error: %s\n' "$*" >&2; exit 1; }

cached() { sed -n "s/^$1:STRING=//p" "$(dirname "$result")/CMakeCache.txt" 2>/dev/null || true; }

# Prints the nvcc to build Kokkos with, if this machine has a GPU and GPUCOORD_CUDA, which CMake
# caches, allows it. GPUCOORD can be built for the GPUs of another machine, and Kokkos cannot.
nvcc_of_kokkos() {
  local wanted=${GPUCOORD_CUDA:-$(cached GPUCOORD_CUDA)} nvcc
  case ${wanted^^} in OFF | NO | FALSE | 0) return ;; esac
  nvidia-smi >/dev/null 2>&1 || {
    if [[ ${wanted^^} =~ ^(ON|YES|TRUE|1)$ || -n ${GPUCOORD_CUDA_ARCHITECTURES:-$(cached GPUCOORD_CUDA_ARCHITECTURES)} ]]; then
      echo "KOKKOS of this LAMMPS is for OpenMP alone, because there is no GPU here. For the GPUs of a cluster," \
        "build LAMMPS with the package: doc/install.md, section KOKKOS" >&2
    fi
    return 0
  }
  for nvcc in "${CUDACXX:-}" "$(command -v nvcc)" "${CUDA_HOME:+$CUDA_HOME/bin/nvcc}" /usr/local/cuda/bin/nvcc; do
    if [ -n "$nvcc" ] && [ -x "$(command -v "$nvcc")" ]; then
      command -v "$nvcc"
      return
    fi
  done
}

if [ -n "${KOKKOS_SOURCE_DIR:-}" ]; then
  kokkos=$(cd "$KOKKOS_SOURCE_DIR" 2>/dev/null && pwd -P) || die "KOKKOS_SOURCE_DIR is $KOKKOS_SOURCE_DIR," \
    "which is not a folder. Give the top folder of a Kokkos 5 source tree."
  kokkos_version=$(sed -n 's/^ *set(Kokkos_VERSION_\(MAJOR\|MINOR\|PATCH\) \([0-9]*\)).*/\2/p' "$kokkos/CMakeLists.txt" \
    2>/dev/null | paste -sd.) || true
  [[ $kokkos_version =~ ^([5-9]|[1-9][0-9])\. ]] || die "KOKKOS_SOURCE_DIR is $KOKKOS_SOURCE_DIR, which is" \
    "${kokkos_version:-no} Kokkos, and KOKKOS of LAMMPS $LAMMPS_VERSION needs 5 or later. Give the top folder of such" \
    "a source tree."
  precision=${KOKKOS_PREC:-double}
  case $precision in
    double | mixed | single) ;;
    *) die "KOKKOS_PREC is $precision: give double, mixed or single" ;;
  esac
  options+=(-D PKG_KOKKOS=on -D CMAKE_CXX_STANDARD=20 -D "KOKKOS_PREC=$precision"
            -D Kokkos_ENABLE_OPENMP=on -D Kokkos_ENABLE_SERIAL=on)
  minutes=60
  kokkos_nvcc=$(nvcc_of_kokkos)
  if [ -n "$kokkos_nvcc" ]; then
    # Kokkos' wrapper makes nvcc accept the options of a C++ compiler. Kokkos itself detects the
    # GPU.
    options+=(-D Kokkos_ENABLE_CUDA=on -D "CMAKE_CXX_COMPILER=$kokkos/bin/nvcc_wrapper")
    PATH=$(dirname "$kokkos_nvcc"):$PATH
    export PATH NVCC_WRAPPER_DEFAULT_COMPILER=${CXX:-g++}
    minutes=120
  fi
fi

cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)

# Only one build of a release at a time: a second make waits here and then finds the result.
exec 9>"$cache/lammps-$LAMMPS_NUMBER.lock"
flock -n 9 || { echo "Another build of LAMMPS $LAMMPS_VERSION is running in $cache: waiting for it"; flock 9; }

source_dir=$("$here/lammps-source.sh" "$cache" 9>&-)

# CMake ignores a PKG_ option that LAMMPS does not have.
known=$(sed -n '/^set(STANDARD_PACKAGES/,/)/p; /^set(SUFFIX_PACKAGES/p' "$source_dir/cmake/CMakeLists.txt" |
        grep -oE '\<[A-Z0-9-]+\>' | paste -sd' ')
read -ra more <<<"${LAMMPS_PACKAGES:-}"
for package in "${more[@]}"; do
  [ "$package" != KOKKOS ] || die "LAMMPS_PACKAGES has KOKKOS. Give KOKKOS_SOURCE_DIR instead."
  [[ " $known " == *" $package "* ]] || die "LAMMPS_PACKAGES has '$package', and LAMMPS $LAMMPS_VERSION has no" \
    "such package. Give names of its packages with spaces in between, such as 'MANYBODY MC'."
  options+=(-D "PKG_$package=on")
done

# LAMMPS uses the Kokkos in lib/kokkos of its tree. In the cache this is a link.
if [ -n "${kokkos:-}" ]; then
  place=$source_dir/lib/kokkos
  if [ -z "${LAMMPS_SOURCE_DIR:-}" ] && { [ -L "$place" ] || [ ! -e "$place" ]; }; then
    ln -sfn "$kokkos" "$place"
  fi
  [ "$(cd "$place" 2>/dev/null && pwd -P)" = "$kokkos" ] || die "LAMMPS takes Kokkos from $place," \
    "and KOKKOS_SOURCE_DIR is $KOKKOS_SOURCE_DIR. Make $place a link to that, or, where there is a Kokkos," \
    "give KOKKOS_SOURCE_DIR=$place."
fi

# A hash of all settings that distinguish two builds names the folder.
key=$( { printf '%s\n' "${options[@]}" "$source_dir"; "${CXX:-c++}" --version; command -v "${CXX:-c++}" mpicxx
         mpicxx --version; mpirun --version || true
         [ -z "${kokkos:-}" ] || echo "$kokkos $kokkos_version"
         [ -z "${kokkos_nvcc:-}" ] || { "$kokkos_nvcc" --version
           nvidia-smi --query-gpu=compute_cap --format=csv,noheader; }; } 2>/dev/null | sha256sum | cut -c1-12)
build_dir=$cache/lammps-$LAMMPS_NUMBER-build-$key

if [ ! -e "$build_dir/complete" ] || [ -n "${LAMMPS_SOURCE_DIR:-}" ]; then
  # An interrupted build continues; a user's source tree may have changed.
  mkdir -p "$build_dir"
  if [ ! -e "$build_dir/complete" ]; then
    # Not in the hash: clones share the build, and its result stays the same. nvcc cannot use it.
    if [ -z "${kokkos:-}" ]; then
      cp "$here/lammps-precompile.cmake" "$build_dir/precompile.cmake"
      options+=(-D "CMAKE_PROJECT_lammps_INCLUDE=$build_dir/precompile.cmake")
    fi
    echo "Building ${variant:+$variant }LAMMPS $LAMMPS_VERSION in $build_dir: once, about $minutes minutes on 2 cores"
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
