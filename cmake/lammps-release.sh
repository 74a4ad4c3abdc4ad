# shellcheck shell=bash disable=SC2034
# Sets LAMMPS_NUMBER, LAMMPS_VERSION and, for a release that is fetched, where its source is and its
# hashes. Scripts include this file.
# Environment: LAMMPS_RELEASE, the number of a release in lammps-releases.txt [the newest];
# LAMMPS_SOURCE_DIR, a user's tree, which then names the release.

lammps_releases=$(grep '^[0-9]' "$(dirname "${BASH_SOURCE[0]}")/lammps-releases.txt")

# read_release NUMBER: sets the variables of that release.
read_release() {
  local row
  row=$(grep "^$1 " <<<"$lammps_releases") || {
    echo "Error: LAMMPS_RELEASE is $1, and GPUCOORD supports" \
      "$(cut -d' ' -f1 <<<"$lammps_releases" | paste -sd, | sed 's/,/, /g'). Give one of them." >&2
    exit 1
  }
  read -r LAMMPS_NUMBER LAMMPS_TAG LAMMPS_SHA256 LAMMPS_DEBIAN_VERSION LAMMPS_DEBIAN_SUITE LAMMPS_DEBIAN_SHA256 \
    LAMMPS_VERSION <<<"$row"
  LAMMPS_URL=''
  [ "$LAMMPS_TAG" = - ] || LAMMPS_URL=https://github.com/lammps/lammps/archive/$LAMMPS_TAG.tar.gz
}

# version_of_tree TREE: prints the version, or fails if the folder is not a LAMMPS tree.
version_of_tree() {
  sed -n 's/^#define LAMMPS_VERSION "\(.*\)".*/\1/p' "$1/src/version.h" 2>/dev/null | grep .
}

if [ -z "${LAMMPS_SOURCE_DIR:-}" ]; then
  read_release "${LAMMPS_RELEASE:-$(head -n1 <<<"$lammps_releases" | cut -d' ' -f1)}"
else
  LAMMPS_VERSION=$(version_of_tree "$LAMMPS_SOURCE_DIR") || {
    echo "Error: LAMMPS_SOURCE_DIR is $LAMMPS_SOURCE_DIR, which is not a LAMMPS source tree: it has no src/version.h." \
      "Give the top folder of a LAMMPS tree, or leave LAMMPS_SOURCE_DIR empty to have one fetched." >&2
    exit 1
  }
  LAMMPS_NUMBER=$(date -d "$LAMMPS_VERSION" +%Y%m%d)
  lammps_oldest=$(tail -n1 <<<"$lammps_releases" | cut -d' ' -f1)
  [ "$LAMMPS_NUMBER" -ge "$lammps_oldest" ] || {
    echo "Error: LAMMPS_SOURCE_DIR is $LAMMPS_SOURCE_DIR, LAMMPS '$LAMMPS_VERSION', and GPUCOORD needs" \
      "$(tail -n1 <<<"$lammps_releases" | cut -d' ' -f7-) or newer. Give such a tree, or leave LAMMPS_SOURCE_DIR" \
      "empty to have one fetched." >&2
    exit 1
  }
fi
