"""A reader of segments in Python, written from docs/ring.md alone: what that page says must be
enough. Nothing here knows of the headers; x86-64 alone, where plain loads are ordered.

    segment = Segment(directory, name)       # SegmentError: why not
    while (polled := segment.poll()) is not END: ...
poll() gives a Record, EMPTY, LAPPED (segment.lost grew), CLOSED or DEAD.
"""
import fcntl
import mmap
import os
import pathlib
import struct

EMPTY, LAPPED, CLOSED, DEAD = 'empty', 'lapped', 'closed', 'dead'
MAGIC, ABI, ENDIAN = 0x314B4F4F42455257, 2, 0x01020304
NO_PRICE, NO_INSTRUMENT = -2**63, 0xFFFFFFFF
WHOLE_HEADER, HEAD, ROW = 4096, 128, 384
SLOT_BYTES = {1: 128, 5: 320, 10: 576, 20: 1088}
KINDS = ['none', 'snapshot', 'trade', 'break', 'status', 'auction', 'system', 'gap', 'session',
         'quality', 'directory', 'collar', 'ipo', 'order']
QUALITIES = ['good', 'stale', 'recovering', 'not-ready']
STATUSES = ['unknown', 'trading', 'halted', 'paused', 'quoting', 'auction', 'closed']
F_OFD_GETLK, FLOCK = 36, 'hhqqi'  # struct flock

# Offset, struct code and name of the fields of a record, and of each event in its body.
HEAD_FIELDS = [
    (8, 'I', 'instrument'), (12, 'B', 'kind'), (13, 'B', 'flags'), (14, 'B', 'quality'),
    (15, 'B', 'status'), (16, 'q', 'bid_price'), (24, 'Q', 'bid_quantity'), (32, 'q', 'ask_price'),
    (40, 'Q', 'ask_quantity'), (48, 'q', 'exchange_time_ns'), (56, 'Q', 'receive_tsc'),
    (64, 'q', 'receive_time_ns'), (72, 'Q', 'feed_sequence'), (80, 'Q', 'packet'),
    (88, 'I', 'decoded_delta'), (92, 'I', 'booked_delta'), (96, 'I', 'published_delta'),
    (100, 'H', 'channel'), (102, 'B', 'line'), (103, 'B', 'time_source'), (104, 'B', 'bid_levels'),
    (105, 'B', 'ask_levels'), (108, 'I', 'bid_orders'), (112, 'I', 'ask_orders')]
EVENT_FIELDS = {
    'trade': [(0, 'q', 'price'), (8, 'Q', 'quantity'), (16, 'Q', 'match'), (24, 'B', 'resting'),
              (25, 'B', 'printable'), (26, 'c', 'type'), (27, 'c', 'cross'),
              (28, 'B', 'sale_flags')],
    'break': [(0, 'q', 'price'), (8, 'Q', 'quantity'), (16, 'Q', 'match')],
    'status': [(0, 'B', 'state'), (1, 'c', 'type'), (2, 'c', 'value'), (8, '16s', 'reason')],
    'auction': [(0, 'q', 'reference'), (8, 'q', 'indicative'), (16, 'q', 'far'),
                (24, 'Q', 'paired'), (32, 'Q', 'imbalance'), (40, 'c', 'side'), (41, 'c', 'type'),
                (42, 'c', 'cross'), (43, 'c', 'variation'), (44, 'I', 'scheduled')],
    'collar': [(0, 'q', 'reference'), (8, 'q', 'lower'), (16, 'q', 'upper'), (24, 'I', 'extension'),
               (28, 'c', 'type'), (29, 'c', 'cross')],
    'ipo': [(0, 'q', 'price'), (8, 'Q', 'release_ns'), (16, 'c', 'qualifier'), (17, 'c', 'type')],
    'system': [(0, 'c', 'value'), (8, '16s', 'group')],
    'gap': [(0, 'Q', 'first'), (8, 'Q', 'last'), (16, 'B', 'lines')],
    'session': [(0, '16s', 'session'), (16, 'Q', 'next_sequence')],
    'quality': [(0, 'B', 'before'), (1, 'B', 'after')],
    'order': [(0, 'q', 'price'), (8, 'Q', 'order'), (16, 'Q', 'other'), (24, 'Q', 'quantity_ahead'),
              (32, 'I', 'orders_ahead'), (36, 'I', 'quantity'), (40, 'I', 'left'),
              (44, 'B', 'action'), (45, 'B', 'side'), (46, 'B', 'printable')],
    'directory': [(0, '16s', 'symbol'), (16, 'Q', 'round_lot'), (24, 'B', 'price_places'),
                  (25, 'c', 'authenticity'), (26, 'c', 'category'), (27, 'c', 'financial'),
                  (28, 'c', 'luld_tier'), (29, 'c', 'etp'), (32, 'q', 'reference'),
                  (40, 'q', 'lower'), (48, 'q', 'upper')],
}


class SegmentError(Exception):
    pass


def text(data):
    return data.rstrip(b'\0').decode('latin-1')


def fields_of(fields, data):
    """{name: value}; characters and texts as str."""
    values = {name: struct.unpack_from('=' + code, data, offset)[0]
              for offset, code, name in fields}
    return {name: text(value) if isinstance(value, bytes) else value
            for name, value in values.items()}


class Record:
    """A copy of a slot or an entry, taken apart when it is asked."""

    def __init__(self, sequence, data, from_table):
        self.sequence, self.data, self.from_table = sequence, data, from_table
        self.head = fields_of(HEAD_FIELDS, data)
        self.kind = KINDS[self.head['kind']]
        self.instrument = self.head['instrument']

    def levels(self, side):
        """[(price, quantity, orders)], best first."""
        count = self.head[f'{side}_levels']
        rows = [tuple(self.head[f'{side}_{name}'] for name in ('price', 'quantity', 'orders'))]
        offset = HEAD + (24 if side == 'ask' else 0)
        rows += [struct.unpack_from('=qQI', self.data, offset + 48 * i) for i in range(count - 1)]
        return rows[:count]

    def event(self):
        return fields_of(EVENT_FIELDS[self.kind], self.data[16:48] + self.data[104:128])


class Segment:
    def __init__(self, directory, name):
        self.path = pathlib.Path(directory) / f'wirebook.{name}'
        try:
            self.descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise SegmentError(str(error)) from error
        size = os.fstat(self.descriptor).st_size
        if size < WHOLE_HEADER:
            raise SegmentError(f'{self.path} is too short for a header')
        self.memory = mmap.mmap(self.descriptor, size, mmap.MAP_SHARED, mmap.PROT_READ)
        self.words = memoryview(self.memory).cast('Q')  # an element is one load of 8 bytes
        self.bytes = memoryview(self.memory)
        self.check(size)
        self.idle, self.lost, self.gone, self.skipped = 0, 0, None, 0
        self.join()
        self.first = self.next

    def close(self):
        self.words.release()
        self.bytes.release()
        self.memory.close()
        os.close(self.descriptor)

    def check(self, size):
        """The header's constants, after the magic, which is stored last."""
        if self.words[0] != MAGIC:
            raise SegmentError(f'{self.path} is no segment, or was never completed')
        (abi, endian, header, row, head, self.slot_bytes, segment_bytes, self.slots, self.depth,
         self.capacity, self.channels, self.streams, self.rows_at, self.table_at, self.ring_at,
         self.epoch, self.writer_pid) = struct.unpack_from('=6IQQ4I5Q', self.memory, 8)
        if abi != ABI or endian != ENDIAN:
            raise SegmentError(f'{self.path} has ABI version {abi}')
        if (header, row, head) != (WHOLE_HEADER, ROW, HEAD) or segment_bytes != size or \
                self.slot_bytes != SLOT_BYTES.get(self.depth) or self.slots & (self.slots - 1) or \
                self.ring_at + self.slots * self.slot_bytes > size:
            raise SegmentError(f'{self.path} has sizes that do not fit')

    # ---- words that move

    def word(self, offset):
        return self.words[offset // 8]

    @property
    def published(self):
        return self.word(256)

    @property
    def lag(self):
        return max(self.published - self.next, 0)

    def channel_quality(self, channel):
        return self.word(640 + 8 * channel) if channel < self.channels else 3

    def writer_lives(self):
        """Its state says running, and an open file other than ours holds the lock."""
        if self.word(392) != 0:
            return False
        asked = struct.pack(FLOCK, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
        return struct.unpack(FLOCK, fcntl.fcntl(self.descriptor, F_OFD_GETLK, asked))[0] \
            != fcntl.F_UNLCK

    # ---- blocks

    def block(self, offset, size):
        """(first word, copy of the block, whole or not)."""
        version = self.word(offset)
        if version == 0 or version % 2 == 1:
            return version, b'', False
        data = bytes(self.bytes[offset:offset + size])
        return version, data, self.word(offset) == version

    def row_part(self, instrument, offset, size):
        """A part of an instrument's row; None where there is none yet."""
        if instrument >= min(self.word(512), self.capacity):
            return None
        for _ in range(10_000):
            version, data, whole = self.block(self.rows_at + ROW * instrument + offset, size)
            if whole:
                return data
            if version == 0:
                return None
        raise SegmentError(f'row {instrument} was left unfinished')

    def identity(self, instrument):
        """(symbol, decimal places)."""
        data = self.row_part(instrument, 0, 64)
        return ('', 0) if data is None else (text(data[8:24]), data[26])

    # ---- records

    def join(self):
        """From here on: the table once, then the ring without what the table had shown."""
        self.next = self.published
        self.shown = {}
        self.table = iter(range(min(self.word(512), self.capacity)))

    def next_of_table(self):
        for i in self.table:
            version, data, whole = self.block(self.table_at + i * self.slot_bytes, self.slot_bytes)
            if whole:  # one that is being written: the ring brings it
                self.shown[i] = version // 2 - 1
                return Record(version // 2 - 1, data, True)
        return None

    def poll(self):
        if record := self.next_of_table():
            return record
        while True:
            offset = self.ring_at + self.next % self.slots * self.slot_bytes
            version, data, whole = self.block(offset, self.slot_bytes)
            if version < 2 * self.next + 2:
                return self.end() or EMPTY
            if version > 2 * self.next + 2 or not whole:
                return self.lapped()
            record = Record(self.next, data, False)
            self.next += 1
            if record.kind == 'snapshot' and \
                    self.shown.get(record.instrument, -1) >= record.sequence:
                self.skipped += 1
                continue
            return record

    def lapped(self):
        before = self.next
        self.join()
        self.lost += self.next - before
        return LAPPED

    def end(self):
        """None while the writer lives. Else what it left is read first."""
        if self.gone is None:
            self.idle += 1
            if self.idle % 64 != 0 or self.writer_lives():
                return None
            self.gone = CLOSED if self.word(392) == 1 else DEAD
            return self.poll()
        return self.gone
