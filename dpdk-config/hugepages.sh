#!/usr/bin/env bash
# Hugepages for packet and book memory: how many there are, reserve them now, mount hugetlbfs.
#
#   hugepages.sh status
#   hugepages.sh reserve PAGES [--size 2M|1G] [--node N]   at least so many; never takes any away
#   hugepages.sh release [--size 2M|1G] [--node N]         gives the free ones back
#   hugepages.sh mount [DIR] [--size 2M|1G] [--group NAME] default /dev/hugepages
#
# A reservation lasts until the next start of the machine. Memory becomes fragmented while a machine
# runs, so reserve early; 1G pages are as good as only available at boot (hugepagesz=1G hugepages=N
# on the kernel's command line).
# Exit status: 0 done; 2 wrong usage; 3 this machine cannot (no root, no hugepages, no memory).
set -euo pipefail

sys=${WIREBOOK_SYS:-/sys} # another tree in tests
mounts=${WIREBOOK_MOUNTS:-/proc/mounts}
meminfo=${WIREBOOK_MEMINFO:-/proc/meminfo}

usage() {
    sed -n '/^#   /s/^#   //p' "$0" >&2
    exit 2
}

cannot() {
    echo "hugepages: $*" >&2
    exit 3
}

need_root() {
    [ "$(id -u)" -eq 0 ] || cannot "only root may do that: sudo bash $0 $command ..."
}

# The folder with the counters of one page size: of the whole machine, or of one NUMA node.
pool_folder() {
    local base=$sys/kernel/mm/hugepages
    [ -z "$node" ] || base=$sys/devices/system/node/node$node/hugepages
    echo "$base/hugepages-${kilobytes}kB"
}

status() {
    local folder size found=
    for folder in "$sys"/kernel/mm/hugepages/hugepages-*kB; do
        [ -e "$folder/nr_hugepages" ] || continue
        found=yes
        size=${folder##*hugepages-}
        echo "$size pages: $(<"$folder/nr_hugepages") reserved, $(<"$folder/free_hugepages") free"
    done
    [ -n "$found" ] || cannot "this kernel has no hugepages (no $sys/kernel/mm/hugepages)"
    awk '$3 == "hugetlbfs" { print "hugetlbfs at " $2 " (" $4 ")"; n++ }
         END { if (!n) print "hugetlbfs is not mounted" }' "$mounts"
}

reserve() {
    local folder have before available
    folder=$(pool_folder)
    [ -e "$folder/nr_hugepages" ] || cannot "no pages of that size here ($folder is missing)"
    have=$(<"$folder/nr_hugepages")
    before=$have
    if [ "$have" -lt "$pages" ]; then
        need_root
        available=$(awk '$1 == "MemAvailable:" { print $2 }' "$meminfo")
        [ $(((pages - have) * kilobytes)) -lt "$available" ] ||
            cannot "$((pages - have)) more pages of ${kilobytes}kB do not fit: $((available / 1024)) MiB are available"
        echo "$pages" >"$folder/nr_hugepages" || true
        have=$(<"$folder/nr_hugepages")
        if [ "$have" -lt "$pages" ] && [ -w /proc/sys/vm/compact_memory ] && [ "$sys" = /sys ]; then
            echo 1 >/proc/sys/vm/compact_memory || true # bring free memory together, try once more
            echo "$pages" >"$folder/nr_hugepages" || true
            have=$(<"$folder/nr_hugepages")
        fi
    fi
    if [ "$have" -lt "$pages" ]; then
        echo "$before" >"$folder/nr_hugepages" # a part of it helps nobody
        cannot "only $have of $pages: not enough memory in one piece; free some, or restart the machine and reserve first"
    fi
    echo "${kilobytes}kB pages: $have reserved, $(<"$folder/free_hugepages") free" >&2
}

release() {
    local folder used
    folder=$(pool_folder)
    [ -e "$folder/nr_hugepages" ] || cannot "no pages of that size here ($folder is missing)"
    need_root
    used=$(($(<"$folder/nr_hugepages") - $(<"$folder/free_hugepages")))
    echo "$used" >"$folder/nr_hugepages"
    echo "${kilobytes}kB pages: $(<"$folder/nr_hugepages") reserved, all in use" >&2
}

mount_hugetlbfs() {
    local options=pagesize=$size,mode=0770
    if awk -v d="$directory" -v s="pagesize=$size" \
        '$2 == d && $3 == "hugetlbfs" && index($4, s) { found = 1 } END { exit !found }' "$mounts"; then
        echo "hugetlbfs ($size) is mounted at $directory" >&2
    else
        need_root
        [ -z "$group" ] || options+=,gid=$(getent group "$group" | cut -d: -f3)
        mkdir -p "$directory"
        mount -t hugetlbfs -o "$options" none "$directory" || cannot "hugetlbfs cannot be mounted here"
        echo "mounted hugetlbfs ($options) at $directory" >&2
    fi
}

command=${1:-}
[ $# -eq 0 ] || shift
size=2M node='' group='' directory=/dev/hugepages pages=''
while [ $# -gt 0 ]; do
    case $1 in
    --size | --node | --group)
        [ $# -ge 2 ] || usage
        declare "${1#--}=$2"
        shift 2
        ;;
    -*) usage ;;
    *)
        if [ "$command" = mount ]; then directory=$1; else pages=$1; fi
        shift
        ;;
    esac
done
case $size in
2M) kilobytes=2048 ;;
1G) kilobytes=1048576 ;;
*) usage ;;
esac
[[ $node =~ ^[0-9]*$ ]] || usage
[ -z "$group" ] || getent group "$group" >/dev/null || cannot "there is no group $group"

case $command in
status) status ;;
reserve)
    [[ $pages =~ ^[0-9]+$ ]] || usage
    reserve
    ;;
release) release ;;
mount) mount_hugetlbfs ;;
*) usage ;;
esac
