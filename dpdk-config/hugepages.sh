#!/usr/bin/env bash
# Hugepages for packet and book memory: how many there are, reserve them, mount hugetlbfs.
#
#   hugepages.sh status
#   hugepages.sh reserve PAGES [--size 2M|1G] [--node N] [--persist]
#   hugepages.sh release [--size 2M|1G] [--node N] [--persist]
#   hugepages.sh mount [DIR] [--size 2M|1G] [--group NAME] [--persist]
#
#   reserve    at least so many pages; never takes any away
#   release    gives the free ones back
#   mount      hugetlbfs at DIR, /dev/hugepages if not said; --group may write there
#   --persist  after the next start of the machine too; release: no longer then
#   --dry-run  with any of them: says what it would do
#
# Without --persist a reservation lasts until the next start of the machine. Memory becomes
# fragmented while a machine runs, so reserve early; 1G pages are as good as only available at boot
# (hugepagesz=1G hugepages=N on the kernel's command line).
# Exit status: 0 done; 2 wrong usage; 3 this machine cannot (no root, no hugepages, no memory).
set -euo pipefail

host=${WIREBOOK_HOST:-} # the root of another tree in tests
sys=$host/sys
mounts=$host/proc/mounts

usage() {
    sed -n '/^#   /s/^#   //p' "$0"
}

wrong() {
    usage >&2
    exit 2
}

cannot() {
    echo "hugepages: $*" >&2
    exit 3
}

need_root() {
    [ -n "$dry_run" ] || [ -n "$host" ] || [ "$(id -u)" -eq 0 ] ||
        cannot "only root may do that: sudo bash $0 $command ..."
}

# Runs a command, or says it.
act() {
    if [ -n "$dry_run" ]; then echo "$*"; else "$@"; fi
}

write() { # FILE TEXT
    if [ -n "$dry_run" ]; then
        echo "echo '$2' > $1"
    else
        mkdir -p "$(dirname "$1")" 2>/dev/null || true
        echo "$2" >"$1"
    fi
}

# The folder with the counters of one page size: of the whole machine, or of one NUMA node.
pool_folder() {
    local base=$sys/kernel/mm/hugepages
    [ -z "$node" ] || base=$sys/devices/system/node/node$node/hugepages
    echo "$base/hugepages-${kilobytes}kB"
}

# What systemd-tmpfiles reads when the machine starts: one file for each page size and node.
boot_file() {
    echo "$host/etc/tmpfiles.d/wirebook-hugepages-$size${node:+-node$node}.conf"
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

# hugeadm of libhugetlbfs-bin knows how; without it, or for one node, what it does is done here.
set_pages() {
    local folder=$1 count=$2
    if [ -z "$node$host" ] && command -v hugeadm >/dev/null; then
        act hugeadm --hard --pool-pages-min "$size:$count" 2>/dev/null || true
    fi
    if [ -n "$dry_run" ] || [ "$(<"$folder/nr_hugepages")" -ne "$count" ]; then
        write "$folder/nr_hugepages" "$count" || true
    fi
}

reserve() {
    local folder have before available
    folder=$(pool_folder)
    [ -e "$folder/nr_hugepages" ] || cannot "no pages of that size here ($folder is missing)"
    have=$(<"$folder/nr_hugepages")
    before=$have
    if [ "$have" -lt "$pages" ]; then
        need_root
        available=$(awk '$1 == "MemAvailable:" { print $2 }' "$host/proc/meminfo")
        [ $(((pages - have) * kilobytes)) -lt "$available" ] ||
            cannot "$((pages - have)) more pages of ${kilobytes}kB do not fit: $((available / 1024)) MiB are available"
        set_pages "$folder" "$pages"
        [ -n "$dry_run" ] || have=$(<"$folder/nr_hugepages")
        if [ -z "$dry_run" ] && [ "$have" -lt "$pages" ] && [ -w "$host/proc/sys/vm/compact_memory" ]; then
            echo 1 >"$host/proc/sys/vm/compact_memory" || true # bring free memory together, try once more
            set_pages "$folder" "$pages"
            have=$(<"$folder/nr_hugepages")
        fi
    fi
    if [ -z "$dry_run" ] && [ "$have" -lt "$pages" ]; then
        echo "$before" >"$folder/nr_hugepages" # a part of it helps nobody
        cannot "only $have of $pages: not enough memory in one piece; free some, or restart the machine and reserve first"
    fi
    if [ -n "$persist" ]; then
        need_root
        # w!: only while the machine starts, so that a later change by hand stays.
        write "$(boot_file)" "w! ${folder#"$host"}/nr_hugepages - - - - $pages"
    fi
    [ -n "$dry_run" ] ||
        echo "${kilobytes}kB pages: $have reserved, $(<"$folder/free_hugepages") free" >&2
}

release() {
    local folder used
    folder=$(pool_folder)
    [ -e "$folder/nr_hugepages" ] || cannot "no pages of that size here ($folder is missing)"
    need_root
    used=$(($(<"$folder/nr_hugepages") - $(<"$folder/free_hugepages")))
    write "$folder/nr_hugepages" "$used"
    [ -z "$persist" ] || act rm -f "$(boot_file)"
    [ -n "$dry_run" ] ||
        echo "${kilobytes}kB pages: $(<"$folder/nr_hugepages") reserved, all in use" >&2
}

is_mounted() {
    awk -v d="$directory" -v s="pagesize=$size" \
        '$2 == d && $3 == "hugetlbfs" && index($4, s) { found = 1 } END { exit !found }' "$mounts"
}

mount_hugetlbfs() {
    local options=pagesize=$size,mode=0770 table=$host/etc/fstab others=
    [ -z "$group" ] || options+=,gid=$(getent group "$group" | cut -d: -f3)
    if ! is_mounted; then
        need_root
        act mkdir -p "$host$directory"
        act mount -t hugetlbfs -o "$options" none "$host$directory" ||
            cannot "hugetlbfs cannot be mounted here"
        [ -n "$dry_run" ] || echo "mounted hugetlbfs ($options) at $directory" >&2
    else
        echo "hugetlbfs ($size) is mounted at $directory" >&2
        # A mount keeps its options; its folder can change hands.
        if [ -n "$group" ] && [ "$(stat -c %G:%a "$host$directory")" != "$group:770" ]; then
            need_root
            act chgrp "$group" "$host$directory"
            act chmod 0770 "$host$directory"
        fi
    fi
    if [ -n "$persist" ]; then
        need_root
        # Wins over the mount unit that systemd has for /dev/hugepages.
        [ ! -e "$table" ] ||
            others=$(awk -v d="$directory" '!($2 == d && $3 == "hugetlbfs")' "$table")
        write "$table" "${others:+$others
}none $directory hugetlbfs $options 0 0"
    fi
}

command=${1:-}
[ $# -eq 0 ] || shift
size=2M node='' group='' directory=/dev/hugepages pages='' persist='' dry_run=''
while [ $# -gt 0 ]; do
    case $1 in
    --size | --node | --group)
        [ $# -ge 2 ] || wrong
        declare "${1#--}=$2"
        shift
        ;;
    --persist) persist=yes ;;
    --dry-run) dry_run=yes ;;
    --help | -h) command=--help ;;
    -*) wrong ;;
    *) if [ "$command" = mount ]; then directory=$1; else pages=$1; fi ;;
    esac
    shift
done
case $size in
2M) kilobytes=2048 ;;
1G) kilobytes=1048576 ;;
*) wrong ;;
esac
[[ $node =~ ^[0-9]*$ ]] || wrong
[[ $directory =~ ^/[^[:space:]]*$ ]] || wrong
[ -z "$group" ] || getent group "$group" >/dev/null || cannot "there is no group $group"

case $command in
--help | -h) usage ;;
status) status ;;
reserve)
    [[ $pages =~ ^[0-9]{1,9}$ ]] || wrong
    reserve
    ;;
release) release ;;
mount) mount_hugetlbfs ;;
*) wrong ;;
esac
