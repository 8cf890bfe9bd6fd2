#!/usr/bin/env python3
"""Draws docs/pools.svg from the CSV of pool_bench, and prints its rows as Markdown tables.

Usage: pool_plot.py POOLS.csv [POOLS.svg]

One panel of lines is a pool: for each pattern the time of a pair of taking and giving back at 1, 2
and 4 threads, on a logarithmic axis (the values go from 1 ns to over 100 us). Needs Python alone.
"""
import csv
import html
import math
import sys

THREADS = (1, 2, 4)
SIZES = (64, 128, 1024)
SHADES = {1: '#1b4f72', 2: '#2e86c1', 4: '#aed6f1'}
LEFT, WIDTH, ROW, TOP = 190, 360, 34, 64


def read(path):
    """pool -> (pattern, bytes, threads) -> the row, in the order of the file."""
    pools = {}
    with open(path, newline='', encoding='utf-8') as file:
        for row in csv.DictReader(file):
            key = row['pattern'], int(row['bytes']), int(row['threads'])
            pools.setdefault(row['pool'], {})[key] = row
    return pools


def wall(rows, *key):
    return float(rows[key]['wall_ns']) if key in rows else None


def figure(value):
    """Three digits, or as many as there are before the point."""
    if value is None:
        return '-'
    if value < 10:
        return f'{value:.1f}'
    return f'{value:,.0f}'


def table(head, lines):
    print('| ' + ' | '.join(head) + ' |')
    print('|---' * len(head) + '|')
    for line in lines:
        print('| ' + ' | '.join(line) + ' |')
    print()


def print_tables(pools):
    """64 bytes with all there is; then what larger objects change, on one thread."""
    has_lock = any(float(row['lock_share']) > 0 for rows in pools.values() for row in rows.values())
    lines = []
    for pool, rows in pools.items():
        line = [pool] + [figure(wall(rows, pattern, 64, threads))
                         for pattern in ('lifo', 'random') for threads in THREADS]
        single = rows.get(('single', 64, 1))
        line.append(f'{float(single["p50_ns"]):.0f} / {float(single["p99_ns"]):.0f}'
                    if single else '-')
        shares = [float(rows['lifo', 64, threads]['lock_share']) for threads in THREADS
                  if ('lifo', 64, threads) in rows]
        if has_lock:
            line.append(' / '.join(f'{100 * share:.0f} %' for share in shares)
                        if any(shares) else '-')
        lines.append(line)
    table(['64 bytes, ns a pair'] + [f'{p}, {t} thread{"s" * (t > 1)}' for p in ('LIFO', 'random')
                                     for t in THREADS]
          + ['single pair, p50 / p99'] + ['in locks, LIFO, 1 / 2 / 4'] * has_lock, lines)
    larger = [size for size in SIZES[1:] if any(key[1] == size for rows in pools.values()
                                                for key in rows)]
    if larger:
        table(['one thread, ns a pair'] + [f'{p}, {size:,} bytes' for size in larger
                                           for p in ('LIFO', 'random')],
              [[pool] + [figure(wall(rows, pattern, size, 1)) for size in larger
                         for pattern in ('lifo', 'random')] for pool, rows in pools.items()])


class Picture:
    """Two columns of bars on a logarithmic axis, as SVG."""

    def __init__(self, pools):
        values = [float(row['wall_ns']) for rows in pools.values() for key, row in rows.items()
                  if key[0] in ('lifo', 'random')]
        self.low = min(0.5, min(values))
        self.high = 10 ** math.ceil(math.log10(max(values)))
        self.height = TOP + ROW * len(pools) + 20
        self.parts = []

    def x(self, value):
        return WIDTH * math.log(value / self.low) / math.log(self.high / self.low)

    def text(self, x, y, words, anchor='start', size=12, weight='normal'):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}"'
                          f' font-weight="{weight}">{html.escape(words)}</text>')

    def box(self, x, y, width, height, fill):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{height:.1f}" fill="{fill}"/>')

    def column(self, pools, pattern, title, left):
        self.text(left, 36, title, size=13, weight='bold')
        decade = 1.0
        while decade <= self.high:
            x = left + self.x(decade)
            self.parts.append(f'<line x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" '
                              f'y2="{self.height - 16}" stroke="#ddd"/>')
            self.text(x, TOP - 8, f'{decade:,.0f}', 'middle', 10)
            decade *= 10
        for i, rows in enumerate(pools.values()):
            for j, threads in enumerate(THREADS):
                value = wall(rows, pattern, 64, threads)
                if value is None:
                    continue
                y = TOP + ROW * i + 9 * j
                self.box(left, y, self.x(value), 8, SHADES[threads])
                self.text(left + self.x(value) + 3, y + 7.5, figure(value), size=9)

    def svg(self, pools):
        full = LEFT + 2 * (WIDTH + 60)
        for i, pool in enumerate(pools):
            self.text(LEFT - 10, TOP + ROW * i + 17, pool, 'end')
        self.column(pools, 'lifo', 'LIFO: take one, give it back', LEFT)
        self.column(pools, 'random', 'random lifetime, a million live', LEFT + WIDTH + 60)
        self.text(10, 18, 'ns a pair of taking and giving back a 64-byte object, each thread')
        for j, threads in enumerate(THREADS):
            self.box(LEFT + WIDTH + 60 + 90 * j, 9, 10, 10, SHADES[threads])
            self.text(LEFT + WIDTH + 75 + 90 * j, 18, f'{threads} thread{"s" * (threads > 1)}')
        body = '\n'.join(self.parts)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{full}" height="{self.height}" '
                f'viewBox="0 0 {full} {self.height}" font-family="sans-serif">\n'
                f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    pools = read(sys.argv[1])
    print_tables(pools)
    if len(sys.argv) == 3:
        with open(sys.argv[2], 'w', encoding='utf-8') as file:
            file.write(Picture(pools).svg(pools))


if __name__ == '__main__':
    main()
