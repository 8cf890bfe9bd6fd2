#!/usr/bin/env bash
# The live path of quickstart.sh, in a network namespace of its own (quickstart.sh starts it so):
# a simulated exchange sends lines A and B into two veth pairs, `wirebook run` receives both with
# DPDK (net_af_packet) and publishes, a strategy reads.
#
#   unshare --net bash dpdk-config/quickstart_live.sh SEGMENT WORK
#
# Writes WORK/stats.json, WORK/strategy.out, WORK/final.csv and WORK/truth.final.csv.
set -euo pipefail
segment=$1 work=$2

for line in a b; do
    ip link add "${line}0" type veth peer name "${line}1"
    for end in "${line}0" "${line}1"; do
        sysctl -qw "net.ipv6.conf.$end.disable_ipv6=1" 2> /dev/null || true
        ip link set "$end" up
    done
    # Else the kernel leaves UDP checksums to a device that is none, and they are wrong.
    ethtool -K "${line}0" tx off > "$work/step.log" 2>&1
done
ip addr add 10.9.1.1/24 dev a0
ip addr add 10.9.2.1/24 dev b0

cat > "$work/live.toml" << CONFIG
[[port]]
device = "net_af_packet0,iface=a1"
[[port]]
device = "net_af_packet1,iface=b1"

[[channel]]
name = "sim"
feed = "itch50"
lines = [ { group = "239.192.0.1:26477", port = 0 }, { group = "239.192.0.2:26477", port = 1 } ]

[sizes]
orders = 1048576
levels = 262144
instruments = 4096

[dpdk]
hugepages = false
file_prefix = "quickstart_$$"

[publish]
name = "$segment"
CONFIG

# The handler polls on a core of its own; exchange and strategy share the other.
handler_core=() other_core=()
if [ "$(nproc)" -ge 2 ]; then handler_core=(taskset -c 0) other_core=(taskset -c 1); fi
"${handler_core[@]}" build/wirebook run -c "$work/live.toml" --stop end-of-session --fingerprint \
    --stats "$work/stats.json" --final "$work/final.csv" 2> "$work/run.err" &
handler=$!
trap 'kill "$handler" 2> /dev/null || true' EXIT
for _ in $(seq 100); do
    if grep -q 'net_af_packet1: ' "$work/run.err"; then break; fi
    kill -0 "$handler" 2> /dev/null || { cat "$work/run.err" >&2; exit 1; }
    sleep 0.1
done
"${other_core[@]}" build/examples/top_of_book "$segment" --latency --quiet --until-end --wait 30 \
    > "$work/strategy.out" 2> "$work/strategy.err" &
strategy=$!
trap 'kill "$handler" "$strategy" 2> /dev/null || true' EXIT
sleep 0.2
"${other_core[@]}" build/wirebook sim --feed itch50 --seed 1 --duration 10 --rate 20000 \
    --udp a0,b0 --truth "$work/truth" 2> "$work/sim.err" || { cat "$work/sim.err" >&2; exit 1; }
wait "$handler" || { cat "$work/run.err" >&2; exit 1; }
wait "$strategy" || { cat "$work/strategy.err" >&2; exit 1; }
trap - EXIT
sed 's/^/   /' "$work/sim.err" "$work/run.err" >&2
