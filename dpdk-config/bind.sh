#!/bin/sh
# Hands NICs to DPDK, or gives them back, for those who have no binary yet: where `wirebook bind` is
# to be had, it does it; else this script, with sh, awk and sysfs alone (busybox will do).
#
#   bind.sh PCI... [--driver vfio-pci|uio_pci_generic] [--force] [--dry-run]
#   bind.sh --unbind PCI... [--force] [--dry-run]
#
#   PCI        0000:3b:00.0, as lspci -D prints it
#   --force    although the NIC carries a route
#   --dry-run  says what would be written
#
# Exit status: 0 done; 2 wrong usage or no such device; 3 refused or not possible, and why.
set -eu

host=${WIREBOOK_HOST:-} # the root of another tree in tests
pci=$host/sys/bus/pci

usage() {
    sed -n '/^#   /s/^#   //p' "$0"
}

wrong() {
    [ $# -eq 0 ] || echo "bind: $*" >&2
    usage >&2
    exit 2
}

cannot() {
    echo "bind: $*" >&2
    exit 3
}

find_wirebook() {
    [ -z "${WIREBOOK_BIND_ALONE:-}" ] || return 1
    folder=$(dirname "$0")/../build
    if [ -x "$folder/wirebook" ]; then
        echo "$folder/wirebook"
    else
        command -v wirebook
    fi
}

driver_of() {
    if [ -e "$pci/devices/$1/driver" ]; then basename "$(readlink "$pci/devices/$1/driver")"; fi
}

write() { # FILE TEXT
    if [ -n "$dry_run" ]; then echo "echo $2 > $1"; else echo "$2" >"$1"; fi
}

is_userspace() {
    case $1 in vfio-pci | uio_pci_generic | igb_uio) return 0 ;; *) return 1 ;; esac
}

routes_of() { # INTERFACE
    awk -v i="$1" '$1 == i { print $2 == "00000000" ? "the default route" : "a route" }' \
        "$host/proc/net/route"
    awk -v i="$1" '$10 == i && $1 !~ /^(fe80|ff)/ && $9 !~ /^8/ { print "a route of IPv6" }' \
        "$host/proc/net/ipv6_route" 2>/dev/null || true
}

judge() { # ADDRESS
    for net in "$pci/devices/$1"/net/* "$pci/devices/$1"/virtio*/net/*; do
        [ -e "$net" ] || continue
        interface=$(basename "$net")
        routes=$(routes_of "$interface" | sort -u | tr '\n' ',')
        [ -z "$routes" ] || [ -n "$force" ] ||
            cannot "$1: its interface $interface carries ${routes%,}; --force binds it all the same"
    done
    case $(driver_of "$1") in mlx5_core | mlx4_core | mana)
        [ -n "$force" ] || cannot "$1: DPDK receives from it while the kernel keeps it: nothing to bind"
        ;;
    esac
    [ "$driver" != vfio-pci ] || [ -e "$pci/devices/$1/iommu_group" ] || [ -n "$force" ] ||
        cannot "$1: it is in no IOMMU group: switch the IOMMU on, or use --driver uio_pci_generic"
    for other in "$pci/devices/$1"/iommu_group/devices/*; do
        name=$(basename "$other")
        [ ! -e "$other" ] || [ "$name" = "$1" ] ||
            echo "bind: $1: note: $name ($(driver_of "$name")) is in its IOMMU group" >&2
    done
}

# Waits two seconds at most: some drivers take a device only after the write has returned.
wait_for() { # COMMAND...
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if [ -n "$dry_run" ] || "$@"; then return 0; fi
        sleep 0.2
    done
    return 1
}

has_none() {
    [ -z "$(driver_of "$1")" ]
}

has() { # ADDRESS DRIVER, "" for any of the kernel's own
    now=$(driver_of "$1")
    if [ -n "$2" ]; then [ "$now" = "$2" ]; else [ -n "$now" ] && ! is_userspace "$now"; fi
}

move() { # ADDRESS DRIVER, "" for the kernel's own
    before=$(driver_of "$1")
    write "$pci/devices/$1/driver_override" "$2"
    if [ -n "$before" ]; then
        write "$pci/drivers/$before/unbind" "$1"
        wait_for has_none "$1" || true
    fi
    write "$pci/drivers_probe" "$1" || true
    if wait_for has "$1" "$2"; then
        [ -n "$dry_run" ] || echo "bind: $1: $(driver_of "$1"), before ${before:-no driver}" >&2
        return 0
    fi
    write "$pci/devices/$1/driver_override" ""
    write "$pci/drivers_probe" "$1" || true
    wait_for has "$1" "" || true
    cannot "$1: ${2:-no kernel driver} does not take it (dmesg | tail); it has now: $(driver_of "$1")"
}

if wirebook=$(find_wirebook); then
    if [ "${1:-}" = --unbind ]; then
        shift
        exec "$wirebook" unbind "$@" ${host:+--root "$host"}
    fi
    exec "$wirebook" bind "$@" ${host:+--root "$host"}
fi

driver=vfio-pci force='' dry_run='' unbind='' devices=''
while [ $# -gt 0 ]; do
    case $1 in
    --driver)
        [ $# -ge 2 ] || wrong
        driver=$2
        shift
        ;;
    --force) force=yes ;;
    --dry-run) dry_run=yes ;;
    --unbind) unbind=yes ;;
    --help | -h)
        usage
        exit 0
        ;;
    -*) wrong ;;
    *) devices="$devices $1" ;;
    esac
    shift
done
is_userspace "$driver" || wrong "--driver must be vfio-pci or uio_pci_generic"
[ -n "$devices" ] || wrong "which NIC?"

for device in $devices; do
    [ -e "$pci/devices/$device" ] || wrong "there is no PCI device $device"
done
if [ -z "$unbind" ]; then
    for device in $devices; do judge "$device"; done
    [ -e "$pci/drivers/$driver" ] || [ -n "$dry_run" ] || modprobe "$driver" ||
        cannot "the driver $driver is not loaded, and modprobe does not load it"
fi
for device in $devices; do
    now=$(driver_of "$device")
    if [ -z "$unbind" ] && [ "$now" = "$driver" ]; then
        echo "bind: nothing to do: $device has $now" >&2
    elif [ -z "$unbind" ]; then
        move "$device" "$driver"
    elif [ -n "$now" ] && ! is_userspace "$now"; then
        echo "bind: nothing to do: $device has $now" >&2
    else
        move "$device" ""
    fi
done
