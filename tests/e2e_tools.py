"""What the e2e_*.py scripts share: captures made by hand, the program run and its outputs read.

A script's checks are its functions named check_*, each called with (program, folder); skip() ends
one with its reason.
"""
import csv
import io
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(os.environ.get('WIREBOOK_ROOT', pathlib.Path(__file__).parent.parent)).resolve()
SAMPLE = ROOT / 'pcap/itch-sample.pcap'
START_NS = 1_796_000_000 * 10**9


class Skipped(Exception):
    pass


def skip(reason):
    raise Skipped(reason)


# ---- captures

def itch(kind, locate, body, time_ns=34_200_000_000_000):
    return struct.pack('>cHH', kind.encode(), locate, 0) + time_ns.to_bytes(6, 'big') + body


def add(reference, side, shares, price, locate=1, stock='ACME'):
    body = struct.pack('>QcI8sI', reference, side.encode(), shares, stock.ljust(8).encode(), price)
    return itch('A', locate, body)


def delete(reference, locate=1):
    return itch('D', locate, struct.pack('>Q', reference))


def system(code):
    return itch('S', 0, code.encode())


def trading(state, locate=1, stock='ACME'):
    return itch('H', locate, stock.ljust(8).encode() + state.encode() + b'     ')


def mold(sequence, messages, session='SESSION1', count=None):
    blocks = b''.join(struct.pack('>H', len(m)) + m for m in messages)
    count = len(messages) if count is None else count
    return session.ljust(10).encode() + struct.pack('>QH', sequence, count) + blocks


def frame(payload, group=1):
    """Ethernet, IPv4 and UDP to 233.54.12.`group`, port 20000 + `group`; no UDP checksum."""
    udp = struct.pack('>HHHH', 40000, 20000 + group, 8 + len(payload), 0) + payload
    ip = struct.pack('>BBHHHBBH4s4s', 0x45, 0, 20 + len(udp), 0, 0x4000, 16, 17, 0,
                     bytes([10, 0, 0, 1]), bytes([233, 54, 12, group]))
    return bytes.fromhex('01005e360c01020000000001') + b'\x08\x00' + ip + udp


def pcap(records):
    """A capture with nanosecond stamps; records: (ns since START_NS, frame)."""
    out = struct.pack('<IHHiIII', 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for time_ns, data in records:
        seconds, ns = divmod(START_NS + time_ns, 10**9)
        out += struct.pack('<IIII', seconds, ns, len(data), len(data)) + data
    return out


def write_pcap(path, payloads, step_ns=1000):
    """Payloads, or (payload, group) pairs, `step_ns` apart."""
    frames = [frame(*p) if isinstance(p, tuple) else frame(p) for p in payloads]
    path.write_bytes(pcap([(i * step_ns, f) for i, f in enumerate(frames)]))
    return path


def read_pcap(path):
    """The file's header, and its records with their headers."""
    data = path.read_bytes()
    at, records = 24, []
    while at < len(data):
        length = struct.unpack_from('<I', data, at + 8)[0]
        records.append(data[at:at + 16 + length])
        at += 16 + length
    return data[:24], records


# ---- the program

def run(program, *arguments, status=0, **options):
    """The finished process; its exit status must be `status`, one or several."""
    allowed = status if isinstance(status, tuple) else (status,)
    options.setdefault('timeout', 120)
    if 'input' not in options:
        options.setdefault('stdin', subprocess.DEVNULL)
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, check=False, **options)
    assert done.returncode in allowed, (
        f'{" ".join(map(str, arguments))[:400]}: exit {done.returncode}, expected {status}\n'
        f'{done.stderr.decode(errors="replace")}')
    return done


def stats(program, *arguments, **options):
    return json.loads(run(program, 'replay', *arguments, '--stats', '-', **options).stdout)


def digits(done):
    text = done.stdout.decode()
    assert re.fullmatch(r'[0-9a-f]{16}\n', text), repr(text)
    return text.strip()


def fingerprint(program, *arguments, **options):
    return digits(run(program, 'replay', *arguments, '--fingerprint', **options))


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def main(namespace):
    program = str(pathlib.Path(sys.argv[1]).resolve())
    wanted = sys.argv[2:]
    passed, failed, skipped = 0, 0, []
    checks = [f for name, f in namespace.items() if name.startswith('check_')]
    for check in checks:
        if wanted and check.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix='wirebook-e2e.', dir='/dev/shm') as name:
            try:
                check(program, pathlib.Path(name))
                passed += 1
            except Skipped as reason:
                skipped.append(f'{check.__name__}: {reason}')
            except (AssertionError, subprocess.SubprocessError, OSError, ValueError, LookupError):
                failed += 1
                print(f'{check.__name__}:\n{traceback.format_exc(limit=-2)}')
    print(f'{passed} as expected, {failed} not')
    for line in skipped:
        print(f'SKIP: {line}')
    if failed:
        return 1
    return 77 if skipped and not passed else 0
