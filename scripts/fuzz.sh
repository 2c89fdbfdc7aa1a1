#!/usr/bin/env bash
# Fuzzes every target for so many seconds, without a nightly compiler.
#
# cargo-fuzz wants nightly for its sanitizers. There is no unsafe code in what is fuzzed here, so panics and broken
# promises are what is to be found, and coverage is all libFuzzer needs: LLVM's own pass, asked for by name. With nightly
# and cargo-fuzz installed, `cargo fuzz run TARGET` works as well, from the fuzz directory.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
seconds=${1:-60}

export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
-Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing"
export CARGO_TARGET_DIR="$PWD/target"
# With --target, build scripts and procedural macros are not instrumented.
target=$(rustc -vV | sed -n 's/^host: //p')
cargo build --release --target "$target"
for name in reply http2 http3 websocket events plan result jtl log template rows step scenario profile collection part; do
    mkdir -p "corpus/$name" "artifacts/$name"
    seeds=()
    if [ -d "seeds/$name" ]; then seeds+=("seeds/$name"); fi
    echo "fuzzing $name for $seconds s"
    "target/$target/release/$name" -max_total_time="$seconds" -rss_limit_mb=2048 -print_final_stats=0 -verbosity=0 \
        -artifact_prefix="artifacts/$name/" "corpus/$name" ${seeds[@]+"${seeds[@]}"}
done
echo "fuzzing: nothing found"
