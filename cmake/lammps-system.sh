#!/usr/bin/env bash
# Uses the LAMMPS that is installed on this system instead of building one. Writes FILE as
# lammps-build.sh does, with the source tree of the installed release and, as LAMMPS' build folder, one
# with a liblammps.so and a lmp that load plugins and are linked to the installed library.
# Usage: lammps-system.sh FILE [PREFIX]
#        lammps-system.sh --check-package
# PREFIX is the folder with bin/lmp, include/lammps and lib/.../liblammps.so [/usr].
# --check-package only checks the version of the package that apt-get would install.
# Environment: LAMMPS_SOURCE_DIR, LAMMPS_TARBALL, GPUCOORD_CACHE, JOBS as in lammps-build.sh.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
result=$1
prefix=${2:-/usr}
way_out="Or leave LAMMPS=system out: make then fetches and builds LAMMPS."

die() { printf 'Error: %s\n' "$*" >&2; exit 1; }

for name in LAMMPS_RELEASE LAMMPS_PACKAGES KOKKOS_SOURCE_DIR; do
  [ -z "${!name:-}" ] || die "$name is ${!name}, and LAMMPS=system takes LAMMPS as the system has it." \
    "Leave out one of the two."
done

supported=$(grep '^[0-9]' "$here/lammps-releases.txt")
oldest=$(tail -n1 <<<"$supported")
needed="GPUCOORD needs LAMMPS $(cut -d' ' -f7- <<<"$oldest") or newer, which Debian 13 has"
is_too_old() { [ "$1" -lt "${oldest%% *}" ]; }    # NUMBER

if [ "$result" = --check-package ]; then
  package=$(LC_ALL=C apt-cache policy liblammps-dev 2>/dev/null | sed -n 's/^ *Candidate: *//p')
  number=${package%%[!0-9]*}
  [[ $number =~ ^[0-9]{8}$ ]] || die "LAMMPS=system needs the package liblammps-dev, and this system has none:" \
    "apt's candidate is '$package'. $needed. $way_out"
  ! is_too_old "$number" || die "LAMMPS=system needs the package liblammps-dev, and that of this system is $package." \
    "$needed. $way_out"
  exit
fi

# 1. The installed LAMMPS: its files and what it says about itself
lmp=$prefix/bin/lmp
headers=$prefix/include/lammps
library=$(find "$prefix"/lib* -maxdepth 2 -name liblammps.so -print -quit 2>/dev/null || true)
for file in "$lmp" "$headers/library.h" "${library:-$prefix/lib/liblammps.so}"; do
  [ -e "$file" ] || die "LAMMPS=system needs Debian's packages lammps and liblammps-dev, and there is no $file." \
    "Install them by apt-get install lammps liblammps-dev on Debian 13 or newer. $way_out"
done
help=$("$lmp" -h 2>/dev/null </dev/null) || die "$lmp -h failed. Reinstall Debian's package lammps. $way_out"

found() { grep -qE -- "$1" <<<"$help"; }
on_if() { if found "$1"; then echo on; else echo off; fi; }
has_package() { on_if "^([A-Z0-9-]+ )*$1( |\$)"; }
version=$(sed -n 's/^Large-scale Atomic.*Simulator - \([0-9]* [A-Z][a-z]* [0-9]*\).*/\1/p' <<<"$help")
sizes=$(sed -n 's/^-DLAMMPS_\(SMALLBIG\|BIGBIG\)$/\1/p' <<<"$help")
standard=$(sed -n 's/^C++ standard: C++\([0-9]*\)$/\1/p' <<<"$help")
if [ -z "$version" ] || [ -z "$sizes" ] || [ -z "$standard" ]; then
  die "$lmp -h prints no version, sizes of integers and C++ standard as LAMMPS does. Reinstall Debian's package" \
    "lammps. $way_out"
fi

# 2. Its source: the installed headers are only those of LAMMPS' library interface
versions=$(cut -d' ' -f7- <<<"$supported" | paste -sd, | sed 's/,/, /g')
number=$(date -d "$version" +%Y%m%d)
! is_too_old "$number" || die "$lmp is LAMMPS $version. $needed. $way_out"
if [ -z "${LAMMPS_SOURCE_DIR:-}" ]; then
  grep -q "^$number " <<<"$supported" || die "$lmp is LAMMPS $version, and make knows where to get the source of" \
    "LAMMPS $versions. Give LAMMPS_SOURCE_DIR=FOLDER with the source of LAMMPS $version. $way_out"
  export LAMMPS_RELEASE=$number
fi
# shellcheck source=cmake/lammps-release.sh
. "$here/lammps-release.sh"
[ "$LAMMPS_VERSION" = "$version" ] || die "$lmp is LAMMPS $version, and LAMMPS_SOURCE_DIR is $LAMMPS_SOURCE_DIR," \
  "LAMMPS $LAMMPS_VERSION. Give the source of LAMMPS $version, or leave LAMMPS_SOURCE_DIR empty to have it fetched."

cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)
source_dir=$(flock "$cache/lammps-$LAMMPS_NUMBER.lock" "$here/lammps-source.sh" "$cache")

while IFS= read -r file; do
  for folder in src third_party; do
    ! cmp -s "$headers/$file" "$source_dir/$folder/$file" || continue 2
  done
  die "$headers/$file differs from the one in $source_dir/src, LAMMPS $version. Give" \
    "LAMMPS_SOURCE_DIR=FOLDER with the source that the installed LAMMPS was built from. $way_out"
done < <(cd "$headers" && find . -name '*.h*' | sed 's|^\./||' | LC_ALL=C sort)

# 3. A LAMMPS that loads plugins
mkdir -p "$(dirname "$result")"
build_dir=$(cd "$(dirname "$result")" && pwd -P)/system-lammps
mkdir -p "$build_dir"
cmake -S "$here/system-lammps" -B "$build_dir" -G Ninja -D CMAKE_BUILD_TYPE=Release \
  -D LAMMPS_SOURCE_DIR="$source_dir" -D SYSTEM_LMP="$lmp" -D SYSTEM_LIBRARY="$library" \
  -D SYSTEM_HAS_PLUGIN="$(has_package PLUGIN)" -D PKG_PLUGIN=on -D LAMMPS_SIZES="$sizes" -D BUILD_MPI=on \
  -D BUILD_OMP="$(on_if 'with OpenMP ([0-9]|newer)')" -D PKG_OPENMP="$(has_package OPENMP)" \
  -D PKG_KSPACE="$(has_package KSPACE)" -D FFT_SINGLE="$(on_if '^FFT precision *= single')" \
  -D FFT_USE_HEFFTE="$(on_if '^FFT engine *= HeFFTe')" -D CMAKE_CXX_STANDARD="$standard" \
  >"$build_dir/configure.log" 2>&1 || {
    tail -n 40 "$build_dir/configure.log" >&2
    die "LAMMPS of the system could not be configured. The lines above are the last of $build_dir/configure.log"
  }
"$here/ninja-progress.sh" "LAMMPS of the system" "$build_dir"
env -u LAMMPS_PLUGIN_PATH "$build_dir/lmp" -log none -screen none <<<'plugin list' >"$build_dir/check.log" 2>&1 || {
  cat "$build_dir/check.log" >&2
  die "$build_dir/lmp does not know the command plugin: $library does not call LAMMPS::post_create() of another" \
    "library. $way_out"
}

cat >"$result" <<EOF
set(LAMMPS_SOURCE_DIR [[$source_dir]] CACHE PATH "top folder of the LAMMPS source tree" FORCE)
set(LAMMPS_BUILD_DIR [[$build_dir]] CACHE PATH "LAMMPS' build folder" FORCE)
EOF
echo "Using LAMMPS $version of the system, $library"
