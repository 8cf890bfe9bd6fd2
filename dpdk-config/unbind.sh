#!/bin/sh
# Gives NICs back to the kernel: unbind.sh PCI... [--force] [--dry-run]; see bind.sh.
exec sh "$(dirname "$0")/bind.sh" --unbind "$@"
