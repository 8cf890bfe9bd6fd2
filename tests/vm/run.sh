#!/usr/bin/env bash
# Receives from NICs that DPDK drives itself, in a virtual machine (QEMU without KVM): the scripts of
# dpdk-config and `wirebook bind` prepare it, `wirebook run` receives lines A and B, each on a NIC of
# its own, and books and fingerprint must be those of the simulated exchange.
#
#   tests/vm/run.sh WIREBOOK [NIC:DRIVER...]
#
# NIC:DRIVER is e1000e:vfio-pci (behind an IOMMU), virtio-net-pci:vfio-pci (likewise) or
# virtio-net-pci:uio_pci_generic (without one); left out: all three. The kernel is Debian's for
# clouds, unpacked beside WIREBOOK in vm/, never installed. VM_PACE: packets a second, 8000 if not
# said. VM_KEEP: a folder that keeps what the machine said.
# Exit status: 0 good; 1 not, the machine's console is shown; 77 not possible here, and why.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '/^#   tests/s/^# *//p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
program=$(realpath "$1")
shift
[ $# -gt 0 ] || set -- e1000e:vfio-pci virtio-net-pci:vfio-pci virtio-net-pci:uio_pci_generic
cache=$(dirname "$program")/vm
pace=${VM_PACE:-8000}
modules=(virtio_pci virtio_blk virtio_net vfio_iommu_type1 vfio-pci uio_pci_generic)
seconds_a_machine=75

work=$(mktemp -d)
children=()
cleanup() {
    local child
    # timeout hands the signal on to the machine.
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

skip() {
    echo "skipped: $*"
    exit 77
}

began=$EPOCHREALTIME
phase() { # what was done since the last one
    local now=$EPOCHREALTIME
    awk -v a="$began" -v b="$now" -v what="$*" 'BEGIN { printf "%6.1f s  %s\n", b - a, what }'
    began=$now
}

# ---- what is needed

tools() {
    local tool
    for tool in qemu-system-x86_64 busybox cpio depmod modprobe; do
        command -v "$tool" >/dev/null || [ -x "/usr/sbin/$tool" ] ||
            skip "$tool is not installed (dpdk-config/packages.txt)"
    done
    PATH=$PATH:/usr/sbin
    [[ $("$program" run -c /dev/null 2>&1 || true) != *"no DPDK"* ]] || skip "this build has no DPDK"
    [ "$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)" -gt 1500000 ] ||
        skip "the machine needs 1.5 GB of memory"
}

# The package that Debian's kernel for clouds is at present.
kernel_package() {
    LC_ALL=C apt-cache depends linux-image-cloud-amd64 2>/dev/null |
        awk '$1 == "Depends:" && $2 ~ /^linux-image-[0-9]/ { print $2; exit }'
}

download_kernel() { # into $cache/new
    local package
    rm -rf "$cache/new"
    mkdir -p "$cache/new"
    package=$(kernel_package)
    [ -n "$package" ] || return 1
    (cd "$cache/new" && apt-get download "$package") >"$work/download.log" 2>&1
}

# Kernel and modules at $kernel: vmlinuz, lib/modules. Whatever is unpacked already will do.
get_kernel() {
    local version path module
    kernel=$cache/kernel
    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock 9
    [ ! -e "$kernel/ready" ] || [ "$(<"$kernel/ready")" != "${modules[*]}" ] || return 0
    command -v apt-get >/dev/null || skip "no Debian: no kernel package"
    # Lists of packages that are missing or old: once more with new ones.
    download_kernel || { [ "$(id -u)" -eq 0 ] && apt-get update >/dev/null 2>&1 && download_kernel; } ||
        skip "the kernel package cannot be downloaded:" \
            "$(tail -n 1 "$work/download.log" 2>/dev/null || echo "apt knows no linux-image-cloud-amd64")"
    dpkg-deb --fsys-tarfile "$cache"/new/*.deb | tar -x -C "$cache/new" ./boot ./lib/modules
    version=$(basename "$cache"/new/lib/modules/*)
    depmod -b "$cache/new" "$version"
    rm -rf "$kernel"
    mkdir -p "$kernel"
    for module in "${modules[@]}"; do
        modprobe -d "$cache/new" -S "$version" --show-depends --ignore-install "$module"
    done | awk '$1 == "insmod" { print $2 }' | sort -u >"$work/modules"
    while read -r path; do
        path=${path#"$cache/new/"}
        install -D -m 644 "$cache/new/$path" "$kernel/$path"
    done <"$work/modules"
    cp "$cache/new/lib/modules/$version"/modules.{order,builtin,builtin.modinfo} "$kernel/lib/modules/$version"
    depmod -b "$kernel" "$version"
    cp "$cache/new/boot/vmlinuz-$version" "$kernel/vmlinuz"
    rm -rf "$cache/new"
    echo "${modules[*]}" >"$kernel/ready"
    phase "kernel $version downloaded and unpacked"
}

# ---- the machine's first file system

# Programs with the libraries that they name.
copy_program() { # FROM TO
    local library
    install -D "$1" "$2"
    ldd "$1" | awk '$2 == "=>" && $3 ~ /^\// { print $3 } $1 ~ /^\// { print $1 }' |
        while read -r library; do
            [ -e "$work/root$library" ] || install -D "$library" "$work/root$library"
        done
}

make_file_system() {
    local tree=$work/root
    mkdir -p "$tree"/{bin,proc,sys,dev,etc,root,tmp,var/run}
    install "$(command -v busybox)" "$tree/bin/busybox"
    ln -s busybox "$tree/bin/sh"
    copy_program "$(command -v bash)" "$tree/bin/bash"
    copy_program "$(command -v modprobe)" "$tree/bin/modprobe" # busybox's has no soft dependencies
    copy_program "$program" "$tree/wirebook/build/wirebook"
    strip "$tree/wirebook/build/wirebook"
    cp -r "$root/dpdk-config" "$here/feed.toml" "$tree/wirebook"
    cp -r "$kernel/lib" "$tree"
    mkdir -p "$tree/usr/share"
    cp -r /usr/share/zoneinfo "$tree/usr/share"
    install "$here/guest.sh" "$tree/init"
    (cd "$tree" && find . | cpio --quiet -o -H newc -R 0:0) >"$work/initrd"
    phase "file system of $(($(stat -c %s "$work/initrd") / 1000000)) MB"
}

# ---- the feed

# Each line loses packets while the other does not: both together are complete.
faults=(--fault 'A:loss=0.03@0s..800ms' --fault 'A:reorder=0.01,4'
    --fault 'A:burst=0.002,10@900ms..1000ms' --fault 'A:dead=1350ms..1450ms'
    --fault 'B:dead=850ms..890ms' --fault 'B:duplicate=0.01' --fault 'B:loss=0.05@1050ms..1300ms'
    --fault 'B:burst=0.002,10@1460ms..1800ms')

make_feed() {
    {
        "$program" sim -c "$here/sim.toml" "${faults[@]}" --pcap-a "$work/a.pcap" \
            --pcap-b "$work/b.pcap" --truth "$work/truth"
        "$program" replay --lines "$work/a.pcap,$work/b.pcap" --gap-wait 10000000 --feed itch50 \
            --stats "$work/lines.json"
        # The same day, undisturbed: what a handler that misses nothing makes of it.
        "$program" sim -c "$here/sim.toml" --pcap "$work/clean.pcap"
        "$program" replay "$work/clean.pcap" --feed itch50 --fingerprint >"$work/fingerprint"
    } 2>"$work/feed.txt" || { cat "$work/feed.txt"; exit 1; }
    packets=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["packets"])' \
        "$work/lines.json")
    phase "feed of $packets packets"
}

# ---- one machine

start_machine() { # NIC DRIVER FOLDER
    local nic=$1 driver=$2 folder=$3 options='' iommu=()
    if [ "$driver" = vfio-pci ]; then
        iommu=(-device "intel-iommu,intremap=on,caching-mode=on,device-iotlb=on")
        [ "$nic" != virtio-net-pci ] || options=,iommu_platform=on,disable-legacy=on,ats=on
    fi
    truncate -s 64M "$folder/disk"
    timeout --kill-after=5 "$seconds_a_machine" qemu-system-x86_64 \
        -accel tcg,thread=multi -cpu max -smp 1 -m 768 -M q35 -nodefaults -no-user-config \
        -display none -no-reboot -serial "file:$folder/console" \
        -qmp "unix:$folder/monitor,server=on,wait=off" \
        -kernel "$kernel/vmlinuz" -initrd "$work/initrd" \
        -append "console=ttyS0 quiet panic=-1 tsc=reliable no_timer_check intel_iommu=on iommu=pt wirebook.nic=$nic wirebook.driver=$driver wirebook.packets=$((packets + 2))" \
        "${iommu[@]}" \
        -netdev "stream,id=a,server=off,addr.type=unix,addr.path=$folder/a" \
        -netdev "stream,id=b,server=off,addr.type=unix,addr.path=$folder/b" \
        -device "$nic,netdev=a,addr=5,mac=52:54:00:00:00:0a,romfile=$options" \
        -device "$nic,netdev=b,addr=6,mac=52:54:00:00:00:0b,romfile=$options" \
        -drive "file=$folder/disk,if=none,id=disk,format=raw" \
        -device virtio-blk-pci,drive=disk,addr=8 >"$folder/qemu.txt" 2>&1 &
    machine=$!
    children+=("$machine")
}

run_machine() { # NIC DRIVER
    local folder=$work/$1-$2 sender machine good=true
    mkdir -p "$folder/out"
    touch "$folder"/{console,sender.txt}
    python3 "$here/send_frames.py" --console "$folder/console" --monitor "$folder/monitor" \
        --pace "$pace" --came-out "$folder/came-out.json" \
        "$folder/a=$work/a.pcap" "$folder/b=$work/b.pcap" >"$folder/sender.txt" 2>&1 &
    sender=$!
    children+=("$sender")
    while kill -0 "$sender" && ! grep -q listening "$folder/sender.txt"; do sleep 0.05; done
    start_machine "$1" "$2" "$folder"
    # A sender that gave up will not be waited for by the machine.
    wait -n "$machine" "$sender" || { good=false && kill "$machine" "$sender" 2>/dev/null; } || true
    wait "$machine" || good=false
    wait "$sender" || good=false
    children=()
    tar -x -C "$folder/out" -f "$folder/disk" 2>/dev/null || good=false
    python3 "$here/judge.py" "$1" "$2" "$folder" "$work" || good=false
    grep -h ' a second' "$folder/sender.txt" || true
    [ -z "${VM_KEEP:-}" ] || { mkdir -p "$VM_KEEP" && cp -r "$folder" "$VM_KEEP"; }
    phase "$1 with $2"
    $good && return
    echo "---- console of $1 with $2"
    cat "$folder/qemu.txt" "$folder/sender.txt"
    tail -n 100 "$folder/console"
    exit 1
}

tools
get_kernel
exec 9>&- # the lock
make_file_system
make_feed
for kind in "$@"; do
    run_machine "${kind%%:*}" "${kind#*:}"
done
