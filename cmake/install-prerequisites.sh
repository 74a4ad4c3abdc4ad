#!/usr/bin/env bash
# Installs system packages. Does nothing if all are installed.
# Usage: install-prerequisites.sh GROUP...
#   source  for the sources of LAMMPS
#   build   for LAMMPS and GPUCOORD
#   python  for examples and benchmarks
#   test    for tests, wheels and checks
#   clang   for make check-clang
#   doc     for the documentation
# Environment: LAMMPS, system to have build install Debian's LAMMPS, too.
set -euo pipefail

packages=(cmake ca-certificates)
for group in "$@"; do
  case $group in
    source) ;;
    build)
      packages+=(g++ ninja-build libopenmpi-dev openmpi-bin)
      [ "${LAMMPS:-}" != system ] || packages+=(lammps liblammps-dev)
      ;;
    python) packages+=(python3 python3-numpy python3-matplotlib) ;;
    test) packages+=(libgtest-dev libgmock-dev libyaml-dev python3-pip python3-yaml) ;;
    clang) packages+=(clang) ;;
    doc) packages+=(python3-sphinx python3-myst-parser python3-sphinx-rtd-theme libjs-mathjax) ;;
    *) echo "Error: '$group' is no group of packages: give source, build, python, test, clang or doc" >&2; exit 1 ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  # On systems other than Debian and Ubuntu, package names differ: list them once, continue, and let
  # the configure step report missing packages.
  listed=build/packages-listed
  if ! grep -qxF "$*" "$listed" 2>/dev/null; then
    echo "No apt-get here. These are needed, by their Debian names: ${packages[*]}"
    mkdir -p build
    echo "$*" >>"$listed"
  fi
  exit 0
fi

# dpkg-query fails if a name is unknown, but still lists the others.
installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

install="apt-get install -y --no-install-recommends ${missing[*]}"
if [ "$(id -u)" = 0 ]; then
  sudo=()
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  sudo=(sudo -n)
else
  echo "System packages are missing, and only root may install them. Run this, then make again:" >&2
  echo "  sudo apt-get update && sudo $install" >&2
  exit 1
fi

echo "Installing system packages: ${missing[*]}"
# Another apt-get may be running on a new machine: wait for its lock instead of failing.
options=(-q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
"${sudo[@]}" apt-get "${options[@]}" update
if [[ " ${missing[*]} " == *" liblammps-dev "* ]]; then
  "$(dirname "$0")/lammps-system.sh" --check-package
fi
# shellcheck disable=SC2086  # $install is a list of words
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install%% *}" "${options[@]}" ${install#* }
