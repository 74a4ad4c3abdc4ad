#!/usr/bin/env bash
# Runs the example in FOLDER: in.<name of the folder> with build/lmp, then plot.py if there is one. It
# works in a copy under OUTPUT, so that the example's own files stay as they are.
set -euo pipefail
name=$(basename "$1")
mkdir -p "$2"
output=$(cd "$2" && pwd)/$name
lmp=$PWD/build/lmp
rm -rf "$output"
cp -R "$1" "$output"
cd "$output"
echo "Running in.$name"
"$lmp" -in "in.$name"
if [ -e plot.py ]; then "${PYTHON:-/usr/bin/python3}" plot.py; fi
echo "Results are in $output"
