#!/usr/bin/env bash
# From a fresh Debian 12 to books in another process, in one command:
#
#   bash dpdk-config/quickstart.sh [CAPTURE]
#
# Installs what is missing (as root) and builds. Then, where network namespaces are allowed and no
# CAPTURE is given, the live path: a simulated exchange sends both lines into veth pairs, the handler
# receives them with DPDK, examples/top_of_book, a process that knows nothing but the headers of
# `pkg-config wirebook-ring`, reads the books (quickstart_live.sh). Else a capture (default: the one
# of pcap/, 20 seconds) is replayed at real pace into the same ring. Says which of the two and why,
# what went through and how long it took. Safe to run again; then it takes half a minute.
# Exit status: 0 done, 1 build or replay failed, 3 this machine is not able, and why.
set -euo pipefail
given=${1-} capture=${1-}
[ -z "$capture" ] || capture=$(realpath "$capture")
cd "$(dirname "$0")/.."
capture=${capture:-$PWD/pcap/itch-sample.pcap}
work=build/quickstart
# Of this run alone: others may try it on the same machine at the same time.
segment=quickstart.$(id -u).$$

say() { printf '\n== %s\n' "$*" >&2; }

# Runs a long step quietly; shows its last lines if it fails.
step() { # what, command...
    local what=$1 start=$SECONDS
    shift
    if ! "$@" > "$work/step.log" 2>&1; then
        tail -n 30 "$work/step.log" >&2
        echo "quickstart: $what failed; the command was: $*" >&2
        exit 1
    fi
    printf '   %s: %d s\n' "$what" $((SECONDS - start)) >&2
}

what_next() {
cat >&2 << 'NEXT'

== What next
   your own capture:    build/wirebook replay FILE --stats - --top top.csv --final final.csv
                        bash dpdk-config/quickstart.sh FILE
   a strategy's view:   docs/attach-a-strategy.md
   your own NIC:        sudo bash dpdk-config/hugepages.sh reserve 256
                        copy dpdk-config/samples/nasdaq.toml, put your device and groups in, then
                        build/wirebook check-config FILE && sudo build/wirebook run -c FILE
   all tests:           bash tests/run.sh
NEXT
}

say "Packages (dpdk-config/packages.txt)"
bash dpdk-config/install-packages.sh || exit 3
mkdir -p "$work"

say "Build"
[ -f build/build.ninja ] || step "configure" meson setup build
step "wirebook" ninja -C build wirebook src/capi/libwirebook.so.1.0.0
step "install" meson install -C build --no-rebuild --quiet --tags devel,runtime \
    --destdir "$PWD/$work/installed"
pkgconfig=$(dirname "$(find "$work/installed" -name wirebook-ring.pc)")
mkdir -p build/examples
if [ ! -x build/examples/top_of_book ] ||
    [ -n "$(find examples include/wirebook/ring include/wirebook/core -newer build/examples/top_of_book \
        -type f -print -quit)" ]; then
    # shellcheck disable=SC2046  # pkg-config prints several words
    step "examples/top_of_book, with pkg-config wirebook-ring alone" \
        g++ -std=c++20 -O2 examples/top_of_book.cpp \
        $(PKG_CONFIG_PATH=$pkgconfig pkg-config --cflags --libs wirebook-ring) \
        -o build/examples/top_of_book
fi

# Why the live path cannot be run; empty: it can.
why_replay() {
    if [ -n "$given" ]; then
        echo "a capture was given"
    elif ! unshare --net ip link add a0 type veth peer name a1 2> /dev/null; then
        echo "network namespaces with veth are not allowed here"
    elif build/wirebook run -c /nonexistent.toml 2>&1 | grep -q 'no DPDK'; then
        echo "this build has no DPDK"
    fi
}
reason=$(why_replay)
if [ -z "$reason" ]; then
    say "Live: a simulated exchange, DPDK on two veth pairs, a strategy that reads along"
    unshare --net bash dpdk-config/quickstart_live.sh "$segment" "$PWD/$work"
    say "What went through"
    python3 dpdk-config/quickstart_table.py "$work/stats.json" "$work/strategy.out"
    if [ "$(nproc)" -lt 3 ]; then
        echo "   exchange and strategy share a CPU here: \"to read\" is mostly the scheduler's doing;"
        echo "   with a capture they do not: bash dpdk-config/quickstart.sh pcap/itch-sample.pcap"
    fi
    if cmp -s "$work/final.csv" "$work/truth.final.csv"; then
        echo "   books at the end       equal the exchange's own, byte for byte"
    else
        echo "quickstart: the books differ from the exchange's: $work/final.csv, $work/truth.final.csv" >&2
        exit 1
    fi
    what_next
    exit 0
fi

say "Replay of $(basename "$capture") at real pace, and a strategy that reads along ($reason)"
free_pages=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 2> /dev/null || echo 0)
if [ "$free_pages" -eq 0 ]; then
    echo "   No free 2 MiB hugepages: the segment goes to /dev/shm, which is as good for a try." >&2
    echo "   For the real thing: sudo bash dpdk-config/hugepages.sh reserve 256" >&2
fi
# Both poll without a pause: each gets a core of its own where there are two.
writer_core=() reader_core=()
if [ "$(nproc)" -ge 2 ]; then writer_core=(taskset -c 0) reader_core=(taskset -c 1); fi
"${reader_core[@]}" build/examples/top_of_book "$segment" --latency --quiet --until-end --wait 30 \
    > "$work/strategy.out" 2> "$work/strategy.err" &
strategy=$!
trap 'kill "$strategy" 2> /dev/null || true' EXIT
if ! "${writer_core[@]}" build/wirebook replay "$capture" --speed 1 --publish "$segment" --fingerprint \
    --stats "$work/stats.json" > "$work/replay.out" 2> "$work/replay.err"; then
    cat "$work/replay.err" >&2
    echo "quickstart: the replay failed" >&2
    exit 1
fi
wait "$strategy" || { cat "$work/strategy.err" >&2; exit 1; }
trap - EXIT
sed 's/^/   /' "$work/replay.err" >&2

say "What went through"
python3 dpdk-config/quickstart_table.py "$work/stats.json" "$work/strategy.out"

what_next
