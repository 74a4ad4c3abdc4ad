#!/usr/bin/env bash
# Prints the folder of the LAMMPS source tree to build. Messages go to standard error.
# Usage: lammps-source.sh CACHE_DIR. LAMMPS_RELEASE chooses the release, as lammps-release.sh says.
# It takes the first of these sources that is available:
#   1. LAMMPS_SOURCE_DIR      a user's tree, which stays unchanged
#   2. a tree that an earlier run unpacked in CACHE_DIR
#   3. LAMMPS_TARBALL         a local file
#   4. the release tarball from the LAMMPS project
#   5. Debian's source package of the same release
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=cmake/lammps-release.sh
. "$here/lammps-release.sh"
cache=$1

say() { printf '%s\n' "$*" >&2; }
die() { say "Error: $*"; exit 1; }

check_version() {  # TREE
  local found
  found=$(version_of_tree "$1") || die "$1 is not a LAMMPS source tree: it has no src/version.h."
  [ "$found" = "$LAMMPS_VERSION" ] || die "$1 is LAMMPS '$found', not '$LAMMPS_VERSION'. Remove it to have it fetched."
}

check_hash() {  # FILE; true if it is the release, in either packaging
  local sum known
  sum=$(sha256sum "$1" | cut -d' ' -f1)
  [ "$sum" = "$LAMMPS_SHA256" ] || [ "$sum" = "$LAMMPS_DEBIAN_SHA256" ] || {
    known="$LAMMPS_DEBIAN_SHA256 as Debian packs it"
    [ "$LAMMPS_SHA256" = - ] || known="$LAMMPS_SHA256, or $known"
    say "$1 has SHA-256 $sum; LAMMPS $LAMMPS_VERSION has $known."
    return 1
  }
}

download_release() {  # FILE
  local host
  [ -n "$LAMMPS_URL" ] || return 1
  host=${LAMMPS_URL#https://}
  host=${host%%/*}
  # libcurl waits five minutes for a host that never answers, and CMake has no option for this
  # timeout.
  if [ -z "${https_proxy:-}${HTTPS_PROXY:-}${all_proxy:-}${ALL_PROXY:-}" ] \
    && ! timeout 10 bash -c ": </dev/tcp/$host/443" 2>/dev/null; then
    say "$host cannot be reached from here."
    return 1
  fi
  say "Downloading $LAMMPS_URL (about 250 MB)"
  cat >"$1.cmake" <<EOF
file(DOWNLOAD "$LAMMPS_URL" "$1" INACTIVITY_TIMEOUT 30 SHOW_PROGRESS STATUS status)
list(GET status 0 code)
if(code)
  list(GET status 1 message)
  message(FATAL_ERROR "download failed: \${message}")
endif()
EOF
  cmake -P "$1.cmake" >&2
}

# Runs in a subshell, with apt's lists, cache and sources in a temporary folder: the system's own
# files stay unchanged.
download_debian() (  # FILE
  command -v apt-get >/dev/null || { say "No apt-get here, so no Debian source package."; exit 1; }
  folder=$(mktemp -d "$cache/apt.XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  # apt's sandbox user cannot enter a home folder, and the system's hooks do not support private
  # lists. The age of the index does not matter, since the tarball is checked against a known hash.
  cat >"$folder/apt.conf" <<EOF
Dir::State::Lists "$folder/lists";
Dir::Cache "$folder/cache";
APT::Sandbox::User "$(id -un)";
Acquire::Retries "3";
Acquire::http::Timeout "30";
Acquire::Check-Valid-Until "false";
Acquire::Check-Date "false";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
EOF

  # The system's lists name the repository. A new machine has no lists yet and gets private ones.
  repository() {
    # shellcheck disable=SC2016  # $(REPO_URI) is apt's
    apt-get "$@" indextargets --format '$(REPO_URI)' \
      'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | head -n1
  }
  uri=$(repository)
  if [ -z "$uri" ]; then
    apt-get -c "$folder/apt.conf" -qq update >&2 || true
    uri=$(repository -c "$folder/apt.conf")
  fi
  [ -n "$uri" ] || { say "This system has no Debian repository, so no Debian source package."; exit 1; }

  signed_by=''
  for keyring in /usr/share/keyrings/debian-archive-keyring.{pgp,gpg}; do
    [ ! -e "$keyring" ] || signed_by="[signed-by=$keyring] "
  done
  echo "deb-src $signed_by$uri $LAMMPS_DEBIAN_SUITE main" >"$folder/sources.list"
  cat >>"$folder/apt.conf" <<EOF
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "/dev/null";
EOF
  say "Getting LAMMPS $LAMMPS_VERSION from Debian's source package (130 to 220 MB)"
  apt-get -c "$folder/apt.conf" -qq update >&2 || exit 1
  version=$(apt-cache -c "$folder/apt.conf" showsrc lammps \
    | sed -n 's/^Version: //p' | grep -F -m1 "$LAMMPS_DEBIAN_VERSION-") \
    || { say "Debian no longer has LAMMPS $LAMMPS_DEBIAN_VERSION."; exit 1; }
  cd "$folder" \
    && apt-get -c "$folder/apt.conf" -q source --download-only --tar-only "lammps=$version" >&2 \
    && mv "lammps_$LAMMPS_DEBIAN_VERSION.orig.tar".?z "$1"
)

unpack() {  # TARBALL TREE
  local partial=$2.partial top
  say "Unpacking LAMMPS $LAMMPS_VERSION"
  rm -rf "$partial"
  mkdir -p "$partial"
  (cd "$partial" && cmake -E tar xf "$1")    # supports xz without the program of this name
  top=$partial
  # Some tarballs have one top folder, others have none.
  [ -f "$top/src/version.h" ] || top=$(echo "$partial"/*)
  check_version "$top"
  mv "$top" "$2"      # atomic: a tree under its final name is complete
  rm -rf "$partial"
}

if [ -n "${LAMMPS_SOURCE_DIR:-}" ]; then    # checked by lammps-release.sh
  cd "$LAMMPS_SOURCE_DIR" && pwd -P
  exit
fi

tree=$cache/lammps-$LAMMPS_NUMBER
if [ ! -d "$tree" ]; then
  if [ -n "${LAMMPS_TARBALL:-}" ]; then
    [ -f "$LAMMPS_TARBALL" ] || die "LAMMPS_TARBALL is $LAMMPS_TARBALL, which is not a file."
    check_hash "$LAMMPS_TARBALL" || die "LAMMPS_TARBALL is another file than the release. Give that, or leave it empty to have it fetched."
    unpack "$(realpath "$LAMMPS_TARBALL")" "$tree"
  else
    file=$cache/lammps-$LAMMPS_NUMBER.tar
    if ! { download_release "$file" && check_hash "$file"; } \
      && ! { download_debian "$file" && check_hash "$file"; }; then
      rm -f "$file"
      package="Debian's source package lammps $LAMMPS_DEBIAN_VERSION"
      die "LAMMPS $LAMMPS_VERSION could not be downloaded. Get ${LAMMPS_URL:-$package} by other means and run make LAMMPS_TARBALL=FILE, or make LAMMPS_SOURCE_DIR=FOLDER with a tree of it."
    fi
    unpack "$file" "$tree"
    rm -f "$file" "$file.cmake"
  fi
fi
echo "$tree"
