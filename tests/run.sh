#!/usr/bin/env bash
# Builds everything and runs every test: unit, style and end-to-end tests, the unit tests again
# under AddressSanitizer + UBSan and ThreadSanitizer, and the fuzzers for some seconds each.
# As root on a fresh Debian 12 it installs what it needs first.
#
#   tests/run.sh            everything
#   tests/run.sh --quick    without sanitizers and fuzzers
#   tests/run.sh --all      the long way: every mutant of the protocols, headers with both compilers,
#                           the tests that take minutes; about an hour
#
# Ends with one line, `N passed, N failed, N skipped`; what was skipped is listed with its reason.
# Exit status: 0 nothing failed, 1 something did, 3 the tools cannot be installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 3
quick=false
times=1  # budgets are so many times as long
case "${1-}" in
    '') ;;
    --all) export WIREBOOK_LONG=1 times=6 ;;
    --quick) quick=true ;;
    *) sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

bash dpdk-config/install-packages.sh || exit 3
results=build/test-results
rm -rf "$results"
mkdir -p "$results"

# What fails outside of a test (a build, a suite out of time) counts as a failed test.
fail() { # name, log file
    printf '{"name": "%s", "result": "FAIL", "stdout": ""}\n' "$1" >> "$results/failures.json"
    echo "FAILED: $1" >&2
    [ -z "${2-}" ] || tail -n 40 "$2" >&2
}

# setup BUILD OPTION...: configures once; meson itself notices changed build files.
setup() {
    local build=$1 log="$results/setup-$1.log"
    shift
    [ -f "$build/build.ninja" ] && return 0
    if ! meson setup "$build" "$@" > "$log" 2>&1; then
        fail "meson setup $build" "$log"
        return 1
    fi
}

# suite NAME BUILD SECONDS MESON-TEST-OPTION...: builds what it needs and runs it.
suite() {
    local name=$1 build=$2 budget=$(($3 * times)) start=$SECONDS log="$results/$1.log" status
    shift 3
    timeout --kill-after=10 "$budget" meson test -C "$build" --logbase "$name" \
        --timeout-multiplier "$times" --print-errorlogs "$@" > "$log" 2>&1
    status=$?
    if [ -f "$build/meson-logs/$name.json" ]; then
        mv "$build/meson-logs/$name.json" "$results/$name.json"
    fi
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        fail "suite $name took more than $budget s" "$log"
    elif [ $status -ne 0 ] && ! grep -qsE '"result": "(FAIL|TIMEOUT|ERROR|INTERRUPT)"' \
        "$results/$name.json"; then
        fail "suite $name did not run" "$log"
    elif [ $status -ne 0 ]; then
        sed -n '/^=\+ /,$p' "$log" | head -n 200 >&2
    fi
    printf '%-8s %4d s\n' "$name" $((SECONDS - start)) >&2
}

# build BUILD SECONDS: everything, so that the suites' times are those of the tests.
build() {
    local start=$SECONDS log="$results/build-$1.log"
    if ! timeout --kill-after=10 "$2" ninja -C "$1" > "$log" 2>&1; then
        fail "build of $1" "$log"
        return 1
    fi
    printf '%-8s %4d s\n' "$1" $((SECONDS - start)) >&2
}

built=false
if setup build && build build 900; then
    built=true
    suite unit build 300 --suite unit
    suite e2e build 900 --suite e2e
    suite vm build 240 --suite vm
    suite style build 1200 --suite style
fi

if $built && ! $quick; then
    # At a low optimisation level, with line numbers and no more: for finding, not for speed.
    instrumented=(-Doptimization=1 -Ddebug=false -Dcpp_args=-g1 -Dbench=disabled)
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export ASAN_OPTIONS=detect_stack_use_after_return=1 TSAN_OPTIONS=halt_on_error=1
    # clang for all of them: it compiles instrumented code in half the time, and only it has fuzzers.
    CXX="$(command -v ccache) clang++-14"
    export CXX
    setup build-asan -Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true \
        "${instrumented[@]}" && {
        suite asan build-asan 900 --suite asan
        suite fuzz build-asan 300 --suite fuzz
    }
    setup build-tsan -Db_sanitize=thread -Db_lundef=false -Ddpdk=disabled "${instrumented[@]}" &&
        suite tsan build-tsan 900 --suite tsan
fi

python3 tools/test_summary.py "$results"
