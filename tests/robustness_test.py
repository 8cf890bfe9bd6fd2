#!/usr/bin/env python3
"""Replays every hostile capture of the robustness collection and counts what comes through.

    robustness_test.py WIREBOOK

Expectations are those of its MANIFEST.tsv, but for what docs/replay.md settles otherwise: IP
fragments and tunnels are dropped, and ERF is a link type that is not read. Skipped (exit status
77) where the collection is not on this machine: WIREBOOK_CAPTURES names its folder.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

NOT_A_DATAGRAM = ('not_udp', 'snaplen', 'bad_length', 'fragment', 'tunnel', 'checksum')
# Files whose reading ends with an error (exit status 2); what was whole before is processed.
ERRORS = {
    'trunc_filehdr.pcap', 'empty_file.pcap', 'bad_magic.pcap', 'huge_caplen.pcap',
    'ng_no_idb.pcapng', 'ng_badlen_trailer.pcapng', 'gz_trunc.pcap.gz', 'erf_file.erf',
    'linktype_erf.pcap',
}
# (records, datagrams) where the project's own rules differ from the manifest; a packet of an
# interface that was never described ends the reading before its first record.
OURS = {
    'ipfrag.pcap': (14, 0), 'ipfrag_reverse.pcap': (14, 0), 'gre.pcap': (7, 0),
    'ng_no_idb.pcapng': (0, 0), 'erf_file.erf': (0, 0), 'linktype_erf.pcap': (0, 0),
}


def allowed(text, records):
    """The manifest's numbers: '7', '<N' or 'N-1 or N'."""
    if text == '<N':
        return set(range(records))
    if text == 'N-1 or N':
        return {records - 1, records}
    return {int(text)}


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    root = pathlib.Path(__file__).resolve().parent.parent
    captures = pathlib.Path(os.environ.get('WIREBOOK_CAPTURES', root.parent / 'shared/captures'))
    manifest = captures / 'robustness/MANIFEST.tsv'
    if not manifest.exists():
        print(f'SKIP: no captures at {captures} (WIREBOOK_CAPTURES)')
        return 77
    failed = 0
    rows = [line.split('\t') for line in manifest.read_text().splitlines()[1:] if line.strip()]
    for name, records, payloads, *note in rows:
        with tempfile.TemporaryDirectory() as out:
            stats_file = pathlib.Path(out) / 'stats.json'
            done = subprocess.run([program, 'replay', manifest.parent / name, '--stats', stats_file,
                                   '--top', '/dev/null'], capture_output=True, text=True, timeout=60)
            stats = json.loads(stats_file.read_text()) if stats_file.exists() else None
        want_status = 2 if name in ERRORS else 0
        got = (0, 0)
        if stats:
            dropped = sum(stats['drops'].get(reason, 0) for reason in NOT_A_DATAGRAM)
            got = (stats['packets'], stats['packets'] - dropped)
        if name in OURS:
            fits = got == OURS[name]
        else:
            total = int(records)
            fits = got[0] in allowed(records, total) | ({total - 1} if payloads == 'N-1 or N' else set()) \
                and got[1] in allowed(payloads, total)
            if payloads == '<N':
                fits = got[1] < total
        named = want_status == 0 or name in done.stderr
        if done.returncode != want_status or not fits or not named:
            failed += 1
            print(f'{name}: exit {done.returncode} (expected {want_status}), records and datagrams '
                  f'{got}, expected {records} {payloads}: {note}\n{done.stderr}')
    print(f'{len(rows) - failed} captures as expected, {failed} not')
    return 1 if failed or not rows else 0


if __name__ == '__main__':
    sys.exit(main())
