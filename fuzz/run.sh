#!/bin/sh
# Fuzzes every target for a number of seconds each, from its committed corpus, one target a core at a time:
# fuzz/run.sh SECONDS_EACH
# Findings are left in fuzz/artifacts/<target>/; new inputs are not kept, so the tree stays clean.
set -eu
seconds=${1:?usage: fuzz/run.sh SECONDS_EACH}
case $seconds in '' | *[!0-9]*) echo "fuzz/run.sh: '$seconds' is not a number of seconds" >&2; exit 2 ;; esac
cd "$(dirname "$0")"

command -v cargo-fuzz >/dev/null || cargo install cargo-fuzz --locked
# cargo-fuzz asks for compiler flags that a stable toolchain only takes under this name.
export RUSTC_BOOTSTRAP=1 seconds

found=$(mktemp -d)
export found
trap 'rm -rf "$found"' EXIT
# No sanitizer: there is no unsafe code of ours to watch, and none makes it several times as fast.
cargo fuzz build -s none

# shellcheck disable=SC2016 # The inner shell expands it.
cargo fuzz list | xargs -P "$(nproc)" -I TARGET sh -c '
    mkdir -p "$found/$1" "corpus/$1"
    if cargo fuzz run -s none "$1" "$found/$1" "corpus/$1" -- \
        -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=5 -print_final_stats=1 >"$found/$1.log" 2>&1; then
        echo "fuzzed $1: $(grep -o "number_of_executed_units: .*" "$found/$1.log" | cut -d" " -f2) inputs"
    else
        cat "$found/$1.log" >&2
        # xargs ends at once.
        exit 255
    fi' fuzz TARGET
