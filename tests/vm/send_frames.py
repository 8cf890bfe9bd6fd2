#!/usr/bin/env python3
"""The other end of a virtual machine's cables: sends captures into its NICs, keeps what comes out.

usage: send_frames.py --console FILE --monitor SOCKET --pace N --came-out FILE SOCKET=CAPTURE...

Each SOCKET is a Unix socket that QEMU connects to (-netdev stream,id=NAME, the socket's name too): a
frame is its length in four bytes, big-endian, and then itself. When the guest says on its console
that it polls, the first cable is pulled and plugged in again, through QEMU's monitor (QMP). Each NIC
is asked by IGMP for its groups, as a switch does; then the frames of all captures go out in the order
of their time stamps, N a second. Ends when QEMU does; the frames that came out are then in
--came-out, JSON: a list for each cable of {"at": "start", "plugged", "query" or "end", "frame":
hexadecimal}.
"""
import argparse
import heapq
import json
import pathlib
import socket
import struct
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from live_rig import igmp_of, query  # noqa: E402


def records(path, cable):
    """(time stamp, cable, frame) of a little-endian pcap."""
    data = pathlib.Path(path).read_bytes()
    at = 24
    while at < len(data):
        seconds, fraction, size, _ = struct.unpack_from('<IIII', data, at)
        yield (seconds, fraction), cable, data[at + 16:at + 16 + size]
        at += 16 + size


def reports(came_out):
    """What igmp_of() says of the IGMP frames among them."""
    frames = [bytes.fromhex(out['frame']) for out in came_out]
    return [igmp_of(frame) for frame in frames if frame[12:14] == b'\x08\0' and frame[23] == 2]


class Cable:
    def __init__(self, path):
        self.name = pathlib.Path(path).name
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        self.listener.listen(1)
        self.phase, self.came_out = 'start', []
        self.ended = threading.Event()

    def connect(self, seconds):
        self.listener.settimeout(seconds)
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(None)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        stream = self.connection.makefile('rb')
        try:
            while len(head := stream.read(4)) == 4:
                frame = stream.read(int.from_bytes(head, 'big'))
                self.came_out.append({'at': self.phase, 'frame': frame.hex()})
        except OSError:
            pass  # QEMU is gone
        self.ended.set()

    def send(self, frame):
        self.connection.sendall(len(frame).to_bytes(4, 'big') + frame)

    def has_said(self, record_type, phase):
        """An IGMPv3 report with such a record: 2 is an answer, 4 a join."""
        return any(kind == 0x22 and record[0] == record_type
                   for kind, records in reports(out for out in self.came_out if out['at'] == phase)
                   for record in records)


def wait(what, condition, seconds, cables):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f'send_frames: {what} did not come within {seconds} s')
        if any(cable.ended.is_set() for cable in cables):
            sys.exit(f'send_frames: the machine ended before {what} came')
        time.sleep(0.02)


class Monitor:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.answers = self.socket.makefile('r')
        self.answers.readline()  # the greeting
        self.command('qmp_capabilities')

    def command(self, execute, **arguments):
        self.socket.sendall(json.dumps({'execute': execute, 'arguments': arguments}).encode())
        while 'event' in (answer := json.loads(self.answers.readline())):
            pass
        assert 'return' in answer, answer


def pull_and_plug(monitor, cables, console):
    """The handler sees it, and joins again: the switch may have forgotten."""
    monitor.command('set_link', name=cables[0].name, up=False)
    wait('"the link is down"', lambda: 'the link is down' in console(), 20, cables)
    cables[0].phase = 'plugged'
    monitor.command('set_link', name=cables[0].name, up=True)
    wait('"the link is up"', lambda: 'the link is up' in console(), 20, cables)
    wait('a join after that', lambda: cables[0].has_said(4, 'plugged'), 20, cables)


def ask(cables):
    """What a switch asks, and an answer from each NIC."""
    for cable in cables:
        cable.phase = 'query'
        cable.send(query(3, 5))
    wait('an answer to the query', lambda: all(cable.has_said(2, 'query') for cable in cables), 20, cables)
    for cable in cables:
        cable.phase = 'end'


def play(cables, captures, pace):
    streams = [records(path, cable) for path, cable in zip(captures, cables)]
    began, count = time.monotonic(), 0
    for _, cable, frame in heapq.merge(*streams, key=lambda record: record[0]):
        ahead = began + count / pace - time.monotonic()
        if ahead > 0.002:
            time.sleep(ahead)
        cable.send(frame)
        count += 1
    seconds = time.monotonic() - began
    print(f'send_frames: {count} frames in {seconds:.1f} s, {count / seconds:.0f} a second', flush=True)


def main():
    parser = argparse.ArgumentParser()
    for name in ('--console', '--monitor', '--came-out'):
        parser.add_argument(name, required=True)
    parser.add_argument('--pace', type=float, required=True)
    parser.add_argument('cables', nargs='+')
    options = parser.parse_args()
    paths, captures = zip(*(cable.split('=', 1) for cable in options.cables))

    def console():
        return pathlib.Path(options.console).read_text(errors='replace')

    cables = [Cable(path) for path in paths]
    print('send_frames: listening', flush=True)
    for cable in cables:
        cable.connect(20)
    try:
        wait('"vm: polling"', lambda: 'vm: polling' in console(), 90, cables)
        pull_and_plug(Monitor(options.monitor), cables, console)
        ask(cables)
        play(cables, captures, options.pace)
        for cable in cables:
            cable.ended.wait(90)
    except BrokenPipeError:
        sys.exit('send_frames: the machine ended while frames were sent')
    finally:
        pathlib.Path(options.came_out).write_text(json.dumps([cable.came_out for cable in cables]))


if __name__ == '__main__':
    main()
