#!/usr/bin/env bash
# run-gpu-tests.sh BUILD_DIR [--seconds N] [ctest options]: all tests that need a GPU, in slices that can be continued:
# run_gpu_tests.py explains.
exec "${PYTHON:-/usr/bin/python3}" "$(dirname "$0")/run_gpu_tests.py" "$@"
