#!/usr/bin/env python3
"""Prints what the quickstart saw: quickstart_table.py STATS.json STRATEGY.out

STATS.json is of `wirebook replay --stats`; the last line of STRATEGY.out is what
`top_of_book --latency` says at its end, `key=value` separated by blanks.
"""
import json
import sys


def row(name, text):
    print(f'   {name:<22} {text}')


def latency(strategy, what):
    values = [strategy.get(f'{what}_{percentile}_ns') for percentile in ('p50', 'p99', 'p999')]
    if None in values:
        return 'not measured'
    return '   '.join(f'{name} {int(value):>9,} ns'
                      for name, value in zip(('p50', 'p99', 'p99.9'), values))


def main():
    with open(sys.argv[1], encoding='utf-8') as file:
        stats = json.load(file)
    with open(sys.argv[2], encoding='utf-8') as file:
        lines = file.read().split('\n')
    summary = next((line for line in reversed(lines) if 'records=' in line), '')
    strategy = dict(part.split('=', 1) for part in summary.split() if '=' in part)

    seconds = stats['wall_seconds'] or 1
    drops = {reason: count for reason, count in stats['drops'].items() if count}
    row('packets', f'{stats["packets"]:,}')
    row('messages', f'{stats["messages"]:,} in {seconds:.1f} s, '
                    f'{stats["messages"] / seconds:,.0f} a second')
    by_type = sorted(stats['messages_by_type'].items(), key=lambda item: -item[1])
    for first in range(0, len(by_type), 6):
        row('' if first else '  by type', '  '.join(
            f'{kind} {count:,}' for kind, count in by_type[first:first + 6]))
    row('gaps', f'{stats["gaps"]:,} ({stats["gap_messages"]:,} messages)')
    row('drops', ', '.join(f'{reason} {count:,}' for reason, count in drops.items()) or 'none')
    row('instruments, books', f'{stats["instruments"]:,}, {stats["books"]:,}')
    row('snapshots published', f'{stats["snapshots"]:,}')
    row('records the strategy', f'read {int(strategy.get("records", 0)):,}, '
                                f'lost {int(strategy.get("lost", 0)):,}')
    row('packet to published', latency(strategy, 'published'))
    row('packet to read', latency(strategy, 'read'))
    row('fingerprint', stats['fingerprint'])


if __name__ == '__main__':
    main()
