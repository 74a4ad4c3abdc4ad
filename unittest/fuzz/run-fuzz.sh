#!/usr/bin/env bash
# run-fuzz.sh SECONDS [TARGET ...]: runs the targets of fuzz_bias.cpp, each that long, with address and
# undefined-behavior sanitizers. It needs clang++. Input that fails, and all logs, are in build/fuzz.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?usage: run-fuzz.sh SECONDS [TARGET ...]}
shift
[ $# -gt 0 ] || set -- file state archive walkers shared
options="-std=c++17 -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
  -Ilib/gpucoord/include -Ilib/gpucoord/src/bias -Wno-unknown-attributes"
mkdir -p build/fuzz
objects=()
for source in lib/gpucoord/src/bias/*.cpp lib/gpucoord/src/core/{text_files,file_on_disk,box}.cpp; do
  object=build/fuzz/$(basename "$source" .cpp).o
  [ "$object" -nt "$source" ] || clang++ $options -c "$source" -o "$object"
  objects+=("$object")
done
failed=0
for target; do
  dir=build/fuzz/$target
  mkdir -p "$dir/corpus"
  clang++ $options -fsanitize=fuzzer -D TARGET="$target" unittest/fuzz/fuzz_bias.cpp "${objects[@]}" -o "$dir/fuzz"
  result=clean
  "$dir/fuzz" -max_total_time="$seconds" -timeout=10 -max_len=40000 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$dir/" "$dir/corpus" >"$dir.log" 2>&1 || { result="FAILED: see $dir.log"; failed=1; }
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$dir.log") inputs, $result"
done
exit $failed
