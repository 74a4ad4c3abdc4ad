# shellcheck shell=sh disable=SC2034
# The LAMMPS release that GPUCOORD is built for. Shell scripts and CMake read this file.
LAMMPS_VERSION="4 Jul 2026"
LAMMPS_NUMBER="20260704"
# The release tarball of the LAMMPS project, and Debian's tarball of the same release, which lacks a
# few bundled libraries and a top folder.
LAMMPS_URL="https://github.com/lammps/lammps/archive/patch_4Jul2026.tar.gz"
LAMMPS_SHA256="be9deffba169d140c337fd29570d3f5469332ece7e77280cce998f6caaad5534"
LAMMPS_DEBIAN_VERSION="20260704+dfsg"
LAMMPS_DEBIAN_SHA256="cddbc45a047416bd48a4a0b87f24a5b61b3446982b74d18cafe619c22b17eb62"
