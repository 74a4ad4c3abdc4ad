#!/usr/bin/env bash
# run-sanitizer.sh BUILD_DIR [TOOL ...]: the CUDA tests under compute-sanitizer's memcheck, racecheck and initcheck, or
# the tools given. They cover every engine and switching function, at sizes that finish in minutes.
# One line for each tool; BUILD_DIR/sanitizer-TOOL.log has the rest.
set -uo pipefail
dir=${1:?usage: run-sanitizer.sh BUILD_DIR [TOOL ...]}
shift
[ $# -gt 0 ] || set -- memcheck racecheck initcheck
sanitizer=$(PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin command -v compute-sanitizer) || {
  echo "run-sanitizer.sh: there is no compute-sanitizer on the PATH or in ${CUDA_HOME:-/usr/local/cuda}/bin"
  exit 1
}
export GPUCOORD_REQUIRE_GPU=1

# BACKEND PROGRAM FILTER; * in a filter is GoogleTest's. Devices.* requests a GPU that does not exist.
cases=(
  "cells test_cuda */n0:*/n1:*/n33:*/n129:*/n1000:*/n4097:Expressions.equal*:Shapes.droplets*:Shapes.planes*"
  "cells test_cuda_reuse Lists.*"
  "cells test_coordination Engines.take*:Engines.sum*:Shapes.coincident*:Shapes.a_single*:*EngineFunctions*"
  "cells test_coordination_images Periodic.S_of*:Pairs.*"
  "auto test_coordination Engines.take*:Engines.sum*:*EngineFunctions*"
  "auto test_switch_table *any_number*:*each_kind*:*pairs_equal*"
  "auto test_switch_table_lists Changes.*:List.*:Windows.*"
  "cells test_switch_table *any_number*:*each_kind*"
  "cells test_switch_table_lists List.*"
  "auto test_resident_types *ManyTypes:*EveryFormula"
  "auto test_resident_coordination *BlocksOfRows"
  "auto test_second_pass *any_groups*:*types*:*pairs*"
  "cells test_second_pass *any_groups*:*types*"
  "auto test_resident_function *functions_equal*:*sends*:*names*:*two_groups*"
  "auto test_map_cuda *ChargesOnPoints:*OfAtoms*"
  "auto test_potential_map *AtPoints:*OneCharge"
  "auto test_potential_map_options *FixedBins:*NothingThere"
)
# racecheck is a hundred times slower
racecheck_cases=(
  "cells test_cuda */n33:*/n129"
  "cells test_cuda_reuse Lists.of_one_version_are*"
  "auto test_coordination Engines.sum*"
  "cells test_coordination Engines.sum*:Shapes.a_single*"
  "auto test_switch_table_lists Windows.of_three*:List.*"
  "cells test_switch_table_lists List.*"
  "auto test_resident_types *ComeAndGo:*RangesThatDiffer"
  "auto test_second_pass *pairs*:*left_out*"
  "auto test_map_cuda *ChargesOnPoints:*OfAtoms*"
  "auto test_potential_map *OneCharge"
  "auto test_potential_map_options *NothingThere"
)
failed=0
for tool; do
  log=$dir/sanitizer-$tool.log
  : >"$log"
  result=clean
  [ "$tool" = racecheck ] && entries=("${racecheck_cases[@]}") || entries=("${cases[@]}")
  for entry in "${entries[@]}"; do
    read -r backend program filter <<<"$entry"
    GPUCOORD_TEST_BACKEND=$backend "$sanitizer" --tool "$tool" --error-exitcode 9 \
      "$dir/unittest/$program" --gtest_brief=1 --gtest_filter="$filter" >>"$log" 2>&1
    case $? in
      0) ;;
      9) result="ERRORS in $program ($backend): see $log" ;;
      *) result="$program ($backend) FAILED: see $log" ;;
    esac
    [ "$result" = clean ] || break
  done
  echo "$tool: $result"
  [ "$result" = clean ] || failed=1
done
exit $failed
