#!/usr/bin/env bash
# The driver that hands NICs to programs: load it, now and at every start of the machine.
#
#   vfio.sh status
#   vfio.sh load [--driver vfio-pci|uio_pci_generic] [--persist] [--group NAME]
#   vfio.sh unload [--driver NAME]
#
#   load       loads the driver; binds nothing: wirebook bind does that
#   unload     undoes --persist and --group, and takes the driver out if nothing uses it
#   --persist  at every start of the machine too (/etc/modules-load.d)
#   --group    NAME may open the devices that are bound to vfio-pci (a udev rule)
#   --dry-run  with any of them: says what it would do
#
# Exit status: 0 done; 2 wrong usage; 3 this machine cannot, and why.
set -euo pipefail

host=${WIREBOOK_HOST:-} # the root of another tree in tests

usage() {
    sed -n '/^#   /s/^#   //p' "$0"
}

wrong() {
    usage >&2
    exit 2
}

cannot() {
    echo "vfio: $*" >&2
    exit 3
}

need_root() {
    [ -n "$dry_run" ] || [ -n "$host" ] || [ "$(id -u)" -eq 0 ] ||
        cannot "only root may do that: sudo bash $0 $command ..."
}

act() {
    if [ -n "$dry_run" ]; then echo "$*"; else "$@"; fi
}

write() { # FILE TEXT
    if [ -n "$dry_run" ]; then
        echo "echo '$2' > $1"
    else
        mkdir -p "$(dirname "$1")"
        echo "$2" >"$1"
    fi
}

is_loaded() {
    [ -e "$host/sys/bus/pci/drivers/$driver" ]
}

status() {
    local groups
    if is_loaded; then echo "$driver is loaded"; else echo "$driver is not loaded"; fi
    if [ -e "$modules" ]; then echo "loaded at every start: $(<"$modules")"; fi
    groups=$(find "$host/sys/kernel/iommu_groups" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
    echo "IOMMU groups: $groups"
    find "$host/sys/bus/pci/drivers/$driver" -name '*:*:*.*' -printf 'bound: %f\n' 2>/dev/null || true
}

load() {
    need_root
    if is_loaded; then
        echo "$driver is loaded" >&2
    elif [ -n "$host" ] && [ -z "$dry_run" ]; then
        cannot "modules of another tree cannot be loaded"
    else
        act modprobe "$driver" ||
            cannot "modprobe $driver failed: is the kernel's package installed (apt install linux-image-amd64), and does it take modules?"
    fi
    [ -z "$persist" ] || write "$modules" "$driver"
    if [ -n "$group" ]; then
        write "$rules" "SUBSYSTEM==\"vfio\", GROUP=\"$group\", MODE=\"0660\""
        [ -n "$host" ] || act udevadm control --reload
        [ -n "$host" ] || act udevadm trigger --subsystem-match=vfio
    fi
}

unload() {
    need_root
    act rm -f "$modules" "$rules"
    if [ -z "$host" ] && is_loaded; then
        act modprobe -r "$driver" || cannot "$driver is in use: give the NICs back first (wirebook unbind)"
    fi
}

command=${1:-}
[ $# -eq 0 ] || shift
driver=vfio-pci persist='' group='' dry_run=''
while [ $# -gt 0 ]; do
    case $1 in
    --driver | --group)
        [ $# -ge 2 ] || wrong
        declare "${1#--}=$2"
        shift
        ;;
    --persist) persist=yes ;;
    --dry-run) dry_run=yes ;;
    --help | -h) command=--help ;;
    *) wrong ;;
    esac
    shift
done
case $driver in vfio-pci | uio_pci_generic) ;; *) wrong ;; esac
modules=$host/etc/modules-load.d/wirebook.conf
rules=$host/etc/udev/rules.d/60-wirebook-vfio.rules
[ -z "$group" ] || getent group "$group" >/dev/null || cannot "there is no group $group"

case $command in
--help | -h) usage ;;
status) status ;;
load) load ;;
unload) unload ;;
*) wrong ;;
esac
