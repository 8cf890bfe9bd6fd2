#!/bin/sh
# The first program of the virtual machine, which has busybox, modprobe, bash for the scripts of
# dpdk-config, and wirebook. Prepares the host as docs/doctor.md and dpdk-config/README.md tell people
# to, receives, and writes what each step said to the disk, as a tar file. It judges nothing:
# judge.py does.
/bin/busybox --install -s /bin 2>/dev/null # leaves what is there
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm /out
mount -t tmpfs shm /dev/shm
PATH=/wirebook/build:/bin
cd /wirebook || exit 1
echo "vm: booted"

argument() { # NAME
    sed -n "s/.*wirebook\.$1=\([^ ]*\).*/\1/p" /proc/cmdline
}

# step NAME COMMAND...: its output, errors and exit status.
step() {
    step_name=$1
    shift
    "$@" >"/out/$step_name.out" 2>"/out/$step_name.err" </dev/null
    status=$?
    echo "$status" >"/out/$step_name.status"
    echo "vm: $step_name: status $status"
}

interfaces() {
    for net in /sys/class/net/*; do
        name=${net##*/}
        [ "$name" = lo ] || echo "$name"
    done
}

driver=$(argument driver)
packets=$(argument packets)
modprobe virtio_pci
modprobe virtio_blk
[ "$(argument nic)" != virtio-net-pci ] || modprobe virtio_net
ip link set lo up

# As a machine is found: each NIC of the kernel's has a link, an address, a route for multicast.
n=0
for name in $(interfaces); do
    n=$((n + 1))
    ip link set "$name" up
    ip addr add "10.9.$n.2/24" dev "$name"
    ip route add "23$n.0.0.0/8" dev "$name"
done
[ $n -eq 0 ] || ip route add 224.0.0.0/4 dev "$name"
step doctor_before wirebook doctor --json -c feed.toml
step early wirebook run -c feed.toml --stop idle=1

step hugepages bash dpdk-config/hugepages.sh reserve 96
step hugepages_status bash dpdk-config/hugepages.sh status
step mount bash dpdk-config/hugepages.sh mount /dev/hugepages
step vfio bash dpdk-config/vfio.sh load --driver "$driver"
[ $n -eq 0 ] || step refused wirebook bind -c feed.toml --driver "$driver"
for name in $(interfaces); do ip addr flush dev "$name"; done
for name in $(interfaces); do ip link set "$name" down; done
if [ "$driver" = vfio-pci ]; then
    step bind wirebook bind -c feed.toml --driver "$driver"
else
    # What it is without the program: sh and sysfs.
    step bind env WIREBOOK_BIND_ALONE=1 sh dpdk-config/bind.sh 0000:00:05.0 0000:00:06.0 --driver "$driver"
fi
step bind_again wirebook bind 00:05.0 00:06.0 --driver "$driver"
step doctor wirebook doctor --json -c feed.toml
step doctor_text wirebook doctor -c feed.toml

# wait_for TENTHS CONDITION...: until it is true, or run has ended; false when the time is over. An
# emulated clock may be three times too fast: the times are long, and run.sh has a limit of its own.
wait_for() {
    left=$1
    shift
    until [ -e /out/run.status ] || "$@"; do
        [ "$left" -gt 0 ] || return 1
        left=$((left - 1))
        sleep 0.1
    done
}

# It says a line for each port, then it polls.
polls() {
    [ "$(grep -c ' descriptors, ' /out/run.err)" -eq 2 ]
}

: >/out/run.err
tail -f /out/run.err & # on the console, as it comes
(step run wirebook run -c feed.toml --stop "packets=$packets" --final /out/final.csv \
    --stats /out/stats.json --events /out/events.csv --fingerprint) &
run=$!
wait_for 600 polls && echo "vm: polling"
wait_for 1200 false || { echo "vm: run does not end" && killall wirebook; }
wait $run

step unbind wirebook unbind 00:05.0 00:06.0
for device in 05 06; do
    basename "$(readlink /sys/bus/pci/devices/0000:00:$device.0/driver)"
done >/out/drivers_after
dmesg >/out/dmesg
tar -c -f /dev/vda -C /out .
sync
echo "vm: done"
poweroff -f
