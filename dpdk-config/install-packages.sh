#!/usr/bin/env bash
# Installs what is missing of dpdk-config/packages.txt (Debian 12). Does nothing, quickly and
# without network, when nothing is missing. Exit status 3: not possible here, and why.
set -euo pipefail
cd "$(dirname "$0")"

mapfile -t wanted < <(sed 's/#.*//' packages.txt | awk 'NF { print $1 }')

if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    echo "install-packages: this is no Debian; install by your own means: ${wanted[*]}" >&2
    exit 3
fi

declare -A present
while read -r status package; do
    [ "$status" = installed ] && present[${package%%:*}]=1
done < <(dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n')
missing=()
for package in "${wanted[@]}"; do
    [ -n "${present[$package]-}" ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if [ "$(id -u)" -ne 0 ]; then
    echo "install-packages: missing, and only root can install them:" >&2
    echo "    sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 3
fi

echo "Installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } \
    > "$log" 2>&1; then
    tail -n 15 "$log" >&2
    echo "install-packages: apt-get failed. Is there a network, and is this Debian 12?" >&2
    exit 3
fi
