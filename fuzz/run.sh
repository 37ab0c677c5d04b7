#!/bin/sh
# Fuzzes every target for a number of seconds each, from its committed corpus: fuzz/run.sh SECONDS_EACH
# Findings are left in fuzz/artifacts/<target>/; new inputs are not kept, so the tree stays clean.
set -eu
seconds=${1:?usage: fuzz/run.sh SECONDS_EACH}
case $seconds in '' | *[!0-9]*) echo "fuzz/run.sh: '$seconds' is not a number of seconds" >&2; exit 2 ;; esac
cd "$(dirname "$0")"

command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
# cargo-fuzz asks for compiler flags that a stable toolchain only takes under this name.
export RUSTC_BOOTSTRAP=1

found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT
for target in $(cargo fuzz list); do
    echo "fuzzing $target for $seconds s"
    mkdir -p "$found/$target" "corpus/$target"
    # No sanitizer: there is no unsafe code of ours to watch, and none makes it several times as fast.
    cargo fuzz run -s none "$target" "$found/$target" "corpus/$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=5 -print_final_stats=1
done
