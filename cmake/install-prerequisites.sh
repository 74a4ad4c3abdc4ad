#!/usr/bin/env bash
# Installs the system packages that the build, the tests and the documentation need. Does nothing if
# all are installed.
# Environment: LAMMPS, system to have Debian's LAMMPS installed, too.
set -euo pipefail

packages=(
  g++ cmake ninja-build          # build
  libopenmpi-dev openmpi-bin     # MPI
  libgtest-dev libgmock-dev libyaml-dev  # unit tests
  python3 python3-numpy python3-matplotlib python3-pip python3-yaml  # tests, plots, benchmarks
  ca-certificates                # the download of LAMMPS
  python3-sphinx python3-myst-parser python3-sphinx-rtd-theme libjs-mathjax  # make doc
)

[ "${LAMMPS:-}" != system ] || packages+=(lammps liblammps-dev)

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  # On systems other than Debian and Ubuntu, package names differ: continue and let the configure
  # step report missing packages.
  marker="${1:-}"
  if [ -z "$marker" ] || [ ! -e "$marker" ]; then
    echo "No apt-get here. These are needed, by their Debian names: ${packages[*]}"
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
if [ "${LAMMPS:-}" = system ]; then
  "$(dirname "$0")/lammps-system.sh" --check-package
fi
# shellcheck disable=SC2086  # $install is a list of words
"${sudo[@]}" env DEBIAN_FRONTEND=noninteractive "${install%% *}" "${options[@]}" ${install#* }
