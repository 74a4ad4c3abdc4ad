#!/usr/bin/env bash
# Runs parts of the tutorial on one core, draws figures. Usage: run.sh "PART..." [OUTPUT FOLDER]
# PART: unbiased pull metad other; LMP: LAMMPS [../../build/lmp]; PYTHON: one with matplotlib
set -euo pipefail
case ${1:-} in -*|"") parts=-h ;; *) parts=$1; shift ;; esac
[ "$parts" != -h ] || set -- -h
. "$(dirname "$0")/../../examples/common.sh"
python=${PYTHON:-/usr/bin/python3}

# in_folder NAME INPUT ARGUMENTS: runs the input in a folder of the output folder
in_folder() {
  mkdir -p "$1"
  (cd "$1" && "$lmp" -in "$folder/in.$2" -var here "$folder" -log "log.$2" "${@:3}" \
    </dev/null >"out.$2")
}

for part in $parts; do
  case $part in
    unbiased)
      in_folder . unbiased
      "$python" "$folder/plots.py" rdf series ;;
    pull)
      in_folder slow pull -var steps 40000
      in_folder fast pull -var steps 2000
      "$python" "$folder/plots.py" pull ;;
    metad)
      in_folder right metad
      in_folder wrong_sigma metad -var sigma 0.6 -var steps 100000
      in_folder wrong_pace metad -var pace 20 -var steps 100000
      in_folder wrong_height metad -var height 2.0 -var steps 100000
      in_folder wrong_biasfactor metad -var biasfactor 2 -var steps 100000
      "$python" "$folder/plots.py" metad ;;
    other)    # from S = 4, the end of the fast pull; needs the parts pull and metad
      in_folder other metad -var data "$PWD/fast/data.four"
      "$python" "$folder/plots.py" converge ;;
    *)
      echo "run.sh: there is no part $part" >&2
      exit 1 ;;
  esac
done
