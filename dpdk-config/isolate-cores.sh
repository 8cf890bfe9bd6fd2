#!/usr/bin/env bash
# Cores for polling alone, and the IOMMU: arguments of the kernel's command line.
#
#   isolate-cores.sh CORES [--iommu] [--apply]      CORES like 2-5,8
#   isolate-cores.sh --iommu [--apply]
#   isolate-cores.sh --undo
#   isolate-cores.sh --status
#
#   (without)  prints the arguments
#   --apply    writes them to /etc/default/grub.d/wirebook.cfg and runs update-grub
#   --iommu    the IOMMU, which vfio-pci wants
#   --undo     takes all of that back
#   --dry-run  with --apply or --undo: says what it would do
#
# They count from the next start of the machine on; --status compares what was asked for with what
# is so.
# Exit status: 0 done; 2 wrong usage; 3 this machine cannot, and why.
set -euo pipefail

host=${WIREBOOK_HOST:-} # the root of another tree in tests
file=$host/etc/default/grub.d/wirebook.cfg
cpus=$host/sys/devices/system/cpu

usage() {
    sed -n '/^#   /s/^#   //p' "$0"
}

wrong() {
    [ $# -eq 0 ] || echo "isolate-cores: $*" >&2
    usage >&2
    exit 2
}

cannot() {
    echo "isolate-cores: $*" >&2
    exit 3
}

need_root() {
    [ -n "$dry_run" ] || [ -n "$host" ] || [ "$(id -u)" -eq 0 ] ||
        cannot "only root may do that: sudo bash $0 ..."
}

# "2-5,8" as one number a line.
each_core() {
    local part
    for part in ${1//,/ }; do seq "${part%-*}" "${part#*-}"; done
}

# Numbers, one a line, as a list with ranges.
as_list() {
    sort -n -u | awk '
        NR > 1 && $1 == last + 1 { last = $1; next }
        NR > 1 { printf "%s%s", separator, first == last ? first : first "-" last; separator = "," }
        { first = last = $1 }
        END { if (NR) printf "%s%s\n", separator, first == last ? first : first "-" last }'
}

core_arguments() {
    local online others
    online=$(<"$cpus/online")
    [ -z "$(comm -23 <(each_core "$cores" | sort -u) <(each_core "$online" | sort -u))" ] ||
        wrong "the cores of this machine are $online"
    others=$(comm -13 <(each_core "$cores" | sort -u) <(each_core "$online" | sort -u) | as_list)
    [ -n "$others" ] || wrong "one core at least has to be left for everything else"
    each_core "$cores" | grep -qx 0 &&
        echo "isolate-cores: core 0 cannot do without the timer tick; take others if there are any" >&2
    echo "isolcpus=managed_irq,domain,$cores nohz_full=$cores rcu_nocbs=$cores irqaffinity=$others"
}

# One line of the file for the cores and one for the IOMMU, so that each can change alone.
line() { # KEY ARGUMENTS
    echo "GRUB_CMDLINE_LINUX_DEFAULT=\"\$GRUB_CMDLINE_LINUX_DEFAULT $2\" # $1"
}

kept() { # KEY
    [ ! -e "$file" ] || grep "# $1\$" "$file" || true
}

update_grub() {
    [ -z "$host" ] || return 0
    if [ -n "$dry_run" ]; then
        echo update-grub
    elif command -v update-grub >/dev/null; then
        update-grub
    else
        cannot "there is no update-grub here: put the arguments on the kernel's command line by your boot loader's means"
    fi
}

write_file() { # CONTENT
    local content="# Made by dpdk-config/isolate-cores.sh; it replaces these lines and --undo removes the file.
$1"
    if [ -e "$file" ] && [ "$(<"$file")" = "$content" ]; then
        echo "isolate-cores: $file has that already" >&2
        return
    fi
    need_root
    if [ -n "$dry_run" ]; then
        printf '%s\n' "would write $file:" "$content"
    else
        mkdir -p "$(dirname "$file")"
        echo "$content" >"$file"
    fi
    update_grub
    [ -n "$dry_run" ] || echo "isolate-cores: counts from the next start of the machine on" >&2
}

status() {
    local name
    if [ -e "$file" ]; then grep ^GRUB "$file"; else echo "$file is not there"; fi
    echo "command line now: $(<"$host/proc/cmdline")"
    for name in online isolated nohz_full; do
        [ ! -e "$cpus/$name" ] || echo "$name: $(<"$cpus/$name")"
    done
}

undo() {
    if [ ! -e "$file" ]; then
        echo "isolate-cores: there is nothing to undo" >&2
        return
    fi
    need_root
    if [ -n "$dry_run" ]; then echo "rm $file"; else rm "$file"; fi
    update_grub
}

cores='' apply='' iommu='' command=print dry_run=''
while [ $# -gt 0 ]; do
    case $1 in
    --apply) apply=yes ;;
    --iommu) iommu=yes ;;
    --undo | --status) command=${1#--} ;;
    --dry-run) dry_run=yes ;;
    --help | -h) command=help ;;
    -*) wrong ;;
    *)
        [[ $1 =~ ^[0-9]{1,4}(-[0-9]{1,4})?(,[0-9]{1,4}(-[0-9]{1,4})?)*$ ]] || wrong "no list of cores: $1"
        cores=$1
        ;;
    esac
    shift
done

case $command in
help) usage ;;
status) status ;;
undo) undo ;;
print)
    [ -n "$cores$iommu" ] || wrong
    core_line=$(kept cores) iommu_line=$(kept iommu) arguments=''
    if [ -n "$cores" ]; then
        arguments=$(core_arguments)
        core_line=$(line cores "$arguments")
    fi
    if [ -n "$iommu" ]; then
        arguments+="${arguments:+ }intel_iommu=on iommu=pt"
        iommu_line=$(line iommu "intel_iommu=on iommu=pt")
    fi
    if [ -n "$apply" ]; then
        write_file "$core_line${core_line:+${iommu_line:+
}}$iommu_line"
    else
        echo "$arguments"
    fi
    ;;
esac
