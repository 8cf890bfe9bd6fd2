#!/usr/bin/env python3
"""Makes a synthetic Nasdaq TotalView-ITCH 5.0 session: a capture (MoldUDP64) or a BinaryFILE.

The session holds what a day does, in miniature: directory, opening, order flow in bursts, a
pause of one stock, close, end of session. Nothing in it is exchange data. The same arguments give
the same bytes. Needs Python's standard library alone.

  make_itch.py --pcap itch-sample.pcap
  make_itch.py --pcap a.pcap --pcap-b b.pcap --drop 0.02        the same on two lines, with loss
  make_itch.py --binaryfile big.itch --messages 2000000 --instruments 2000 --live 200000
"""
import argparse
import calendar
import random
import struct

from itch_flow import Flow

SESSION = b'WIREBOOK01'
START_OF_DAY_NS = 34_199_500_000_000  # 09:29:59.5 in New York
ZONE_S = 5 * 3600                     # UTC - New York on DATE, a winter day
DATE = (2026, 11, 30)
LINES = {'a': ((233, 54, 12, 111), 26477), 'b': ((233, 49, 196, 111), 26477)}
MOST_PAYLOAD = 1400


def session(flow, messages, duration_ns):
    """Yields (ns since midnight, message): the whole day, `messages` of them."""
    flow.time_ns = START_OF_DAY_NS
    sent = 0

    def spaced(some, step_ns):
        for message in some:
            yield flow.time_ns, message
            flow.time_ns += step_ns

    for timed in spaced(flow.start_of_day(), 2_000):
        sent += 1
        yield timed
    closing = 3
    left_to_open = max((messages - sent) // 10, 0)
    opened = False
    paused = None
    mean_burst = 10
    flow_messages = max(messages - sent - closing - 2 * len(flow.instruments) - 1, 1)
    mean_gap_ns = max(duration_ns * mean_burst // flow_messages, 1)
    while sent < messages - closing:
        if not opened and left_to_open <= 0:
            opened = True
            for timed in spaced(flow.opening(), 1_000):
                sent += 1
                yield timed
            continue
        if opened and paused is None and sent > messages // 2:
            paused = flow.instruments[len(flow.instruments) // 2]
            yield flow.time_ns, flow.pause(paused, True)
            sent += 1
        if paused is not None and paused.halted and sent > messages * 3 // 5:
            yield flow.time_ns, flow.pause(paused, False)
            sent += 1
        for timed in burst(flow, messages - closing - sent):
            sent += 1
            left_to_open -= 1
            yield timed
        # The product of two even draws: mostly short, sometimes four times the mean.
        flow.time_ns += int(flow.random() * flow.random() * 4 * mean_gap_ns)
    for code in (b'M', b'E', b'C'):
        yield flow.time_ns, flow.close(code)
        flow.time_ns += 1_000_000


def burst(flow, most):
    """Some events in quick succession, in few stocks; now and then a storm."""
    size = 1 + flow.below(14) if flow.random() < 0.99 else 100 + flow.below(300)
    stocks = [flow.popular[flow.below(len(flow.popular))] for _ in range(1 + flow.below(3))]
    for _ in range(size):
        for message in flow.event(stocks[flow.below(len(stocks))]):
            if most == 0:
                return  # the last execution of a sweep: the books here end with this capture
            most -= 1
            yield flow.time_ns, message
        draw = flow.random()
        flow.time_ns += 200 + int(draw * draw * 6_000)


def packets(timed_messages):
    """Yields (ns since midnight, first sequence, count, blocks), as MoldUDP64 packs them."""
    sequence, count, blocks, start, last = 1, 0, [], 0, 0
    size = 0
    for time_ns, message in timed_messages:
        if count and (time_ns - start > 15_000 or size + len(message) + 2 > MOST_PAYLOAD):
            yield last, sequence, count, b''.join(blocks)
            sequence, count, blocks, size = sequence + count, 0, [], 0
        if not count:
            start = time_ns
        last = time_ns
        blocks.append(len(message).to_bytes(2, 'big') + message)
        size += len(message) + 2
        count += 1
    if count:
        yield last, sequence, count, b''.join(blocks)
    yield last + 1_000_000_000, sequence + count, 0, b''
    for second in (2, 3):
        yield last + second * 1_000_000_000, sequence + count, 0xFFFF, b''


def ones_complement(data):
    """The Internet checksum of the bytes, and 0xFFFF where it would be 0, which means the same."""
    if len(data) % 2:
        data += b'\0'
    return 0xFFFF - int.from_bytes(data, 'big') % 0xFFFF


class Capture:
    """A pcap file with nanosecond stamps, of one line."""

    def __init__(self, path, line):
        self.file = open(path, 'wb')  # closed by close(): it lives as long as the capture
        self.file.write(struct.pack('<IHHiIII', 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        group, self.port = LINES[line]
        self.group = bytes(group)
        self.source = bytes((10, 20, 30, 1 if line == 'a' else 2))
        mac = bytes((0x01, 0x00, 0x5E, group[1] & 0x7F, group[2], group[3]))
        self.ethernet = mac + bytes((2, 0, 0, 0, 0, self.source[3])) + b'\x08\x00'
        self.identification = 0

    def write(self, time_ns, sequence, count, blocks):
        payload = SESSION + struct.pack('>QH', sequence, count) + blocks
        length = 8 + len(payload)
        udp = struct.pack('>HHHH', self.port, self.port, length, 0)
        pseudo = self.source + self.group + struct.pack('>HH', 17, length)
        checksum = ones_complement(pseudo + udp + payload)
        udp = struct.pack('>HHHH', self.port, self.port, length, checksum)
        self.identification = (self.identification + 1) & 0xFFFF
        ip = struct.pack('>BBHHHBBH', 0x45, 0, 20 + length, self.identification, 0x4000, 16, 17, 0)
        ip += self.source + self.group
        ip = ip[:10] + struct.pack('>H', ones_complement(ip)) + ip[12:]
        frame = self.ethernet + ip + udp + payload
        utc_ns = (calendar.timegm((*DATE, 0, 0, 0)) + ZONE_S) * 1_000_000_000 + time_ns
        self.file.write(struct.pack('<IIII', utc_ns // 1_000_000_000, utc_ns % 1_000_000_000,
                                    len(frame), len(frame)) + frame)

    def close(self):
        self.file.close()


def write_captures(arguments, timed_messages):
    lines = [Capture(path, line) for path, line in ((arguments.pcap, 'a'), (arguments.pcap_b, 'b'))
             if path]
    network = random.Random(arguments.seed + 1).random
    # From the exchange to the capture: about 4 us, never overtaking.
    arrived = [0] * len(lines)
    lines[0].write(START_OF_DAY_NS - 1_000_000, 1, 0, b'')  # a heartbeat: nothing sent yet
    for time_ns, sequence, count, blocks in packets(timed_messages):
        # A packet is lost on one line at most, so that two lines always have everything.
        lost = int(network() * 2) if network() < 2 * arguments.drop and blocks else None
        for number, line in enumerate(lines):
            delay = 3_500 + int(network() * 1_000) + number * int(network() * 30_000)
            arrived[number] = max(arrived[number] + 200, time_ns + delay)
            if number != lost:
                line.write(arrived[number], sequence, count, blocks)
    for line in lines:
        line.close()


def write_binaryfile(path, timed_messages):
    with open(path, 'wb') as file:
        for _, message in timed_messages:
            file.write(len(message).to_bytes(2, 'big') + message)
        file.write(b'\0\0')


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--pcap', metavar='FILE', help='capture of line A')
    parser.add_argument('--pcap-b', metavar='FILE', help='capture of line B')
    parser.add_argument('--binaryfile', metavar='FILE', help='messages without packets')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--messages', type=int, default=30_000)
    parser.add_argument('--instruments', type=int, default=40, help='at most 5200')
    parser.add_argument('--live', type=int, default=4_000, help='orders that live at a time, about')
    parser.add_argument('--seconds', type=float, default=20, help='length of the order flow')
    parser.add_argument('--drop', type=float, default=0, help='share of packets lost, each line')
    arguments = parser.parse_args()
    if not (arguments.pcap or arguments.binaryfile) or (arguments.pcap_b and not arguments.pcap):
        parser.error('give --pcap or --binaryfile (--pcap-b only beside --pcap)')
    if not 1 <= arguments.instruments <= 5200 or not 0 <= arguments.drop <= 0.5:
        parser.error('--instruments is 1 to 5200, --drop is 0 to 0.5')

    def messages():
        flow = Flow(arguments.seed, arguments.instruments, arguments.live)
        return session(flow, arguments.messages, int(arguments.seconds * 1e9))

    if arguments.pcap:
        write_captures(arguments, messages())
    if arguments.binaryfile:
        write_binaryfile(arguments.binaryfile, messages())


if __name__ == '__main__':
    main()
