"""A plausible day of Nasdaq TotalView-ITCH 5.0 messages in miniature, from a seed.

Orders go to price levels of a small book per instrument, so that what comes out is consistent:
references are unique and live when named, executions hit the head of the best level, and no book
is ever crossed. Needs Python's standard library alone; the same arguments give the same bytes on
every machine (of `random` only random() is used, and no floating-point function of the platform).
"""
import random
import struct

TICK = 100  # prices are in 1e-4: one cent
EMPTY = b'        '

SYSTEM = struct.Struct('>cHH6sc').pack
DIRECTORY = struct.Struct('>cHH6s8sccIcc2scccccIc').pack
ACTION = struct.Struct('>cHH6s8scc4s').pack
REG_SHO = struct.Struct('>cHH6s8sc').pack
PARTICIPANT = struct.Struct('>cHH6s4s8sccc').pack
DECLINE = struct.Struct('>cHH6sQQQ').pack
ADD = struct.Struct('>cHH6sQcI8sI').pack
ADD_MPID = struct.Struct('>cHH6sQcI8sI4s').pack
EXECUTED = struct.Struct('>cHH6sQIQ').pack
EXECUTED_PRICE = struct.Struct('>cHH6sQIQcI').pack
CANCEL = struct.Struct('>cHH6sQI').pack
DELETE = struct.Struct('>cHH6sQ').pack
REPLACE = struct.Struct('>cHH6sQQII').pack
TRADE = struct.Struct('>cHH6sQcI8sIQ').pack
CROSS = struct.Struct('>cHH6sQ8sIQc').pack
BROKEN = struct.Struct('>cHH6sQ').pack
IMBALANCE = struct.Struct('>cHH6sQQc8sIIIcc').pack


class Instrument:
    """One stock and its book: levels[side] is {price: {reference: None}}, oldest first."""

    def __init__(self, locate, symbol, price):
        self.locate, self.symbol, self.price = locate, symbol, price
        self.levels = {b'B': {}, b'S': {}}
        self.best = {b'B': None, b'S': None}
        self.live = []  # references, in no order
        self.halted = False


class Flow:
    """Makes messages; `time_ns` is their time since midnight, and only goes on."""

    def __init__(self, seed, instruments, live):
        self.random = random.Random(seed).random
        self.time_ns = 0
        self.orders = {}  # reference -> [instrument, side, price, shares, position in live]
        self.reference, self.match = 1000, 500
        self.target = max(live // instruments, 8)
        self.instruments = [Instrument(locate, self.symbol(locate), self.start_price())
                            for locate in range(1, instruments + 1)]
        self.popular = []  # an instrument as often as its share of the traffic
        for rank, instrument in enumerate(self.instruments):
            self.popular += [instrument] * (4 * instruments // (rank + 4) + 1)
        self.printed = []  # the last match numbers, for a broken trade

    @staticmethod
    def symbol(locate):
        letters, rest = [], locate - 1
        for alphabet in ('AEIOU', 'BCDFGKLMNPRST', 'AEIOU', 'BCDFGKLMNPRSTVXZ'):
            letters.append(alphabet[rest % len(alphabet)])
            rest //= len(alphabet)
        return ''.join(reversed(letters)).ljust(8).encode()

    def start_price(self):
        return (500 + self.below(30_000)) * TICK

    def below(self, end):
        return int(self.random() * end)

    def stamp(self):
        return self.time_ns.to_bytes(6, 'big')

    def system(self, code):
        return SYSTEM(b'S', 0, 0, self.stamp(), code)

    def start_of_day(self):
        """Directory, states and the like, a message at a time."""
        yield self.system(b'O')
        for one in self.instruments:
            yield DIRECTORY(b'R', one.locate, 0, self.stamp(), one.symbol, b'Q', b'N', 100, b'N',
                            b'C', b'C ', b'P', b'N', b'N', b'1', b'N', 0, b'N')
        yield DECLINE(b'V', 0, 0, self.stamp(), 4_185_00000000, 3_915_00000000, 3_600_00000000)
        for one in self.instruments:
            yield ACTION(b'H', one.locate, 0, self.stamp(), one.symbol, b'T', b' ', b'    ')
            yield REG_SHO(b'Y', one.locate, 0, self.stamp(), one.symbol, b'0')
        for one in self.instruments[:8]:
            yield PARTICIPANT(b'L', one.locate, 0, self.stamp(), b'WIRE', one.symbol, b'Y', b'N',
                              b'A')
        yield self.system(b'S')

    def opening(self):
        """Imbalance, the start of market hours, and the empty opening cross of each stock."""
        for one in self.instruments:
            yield IMBALANCE(b'I', one.locate, 0, self.stamp(), 0, 100 * self.below(50), b'B',
                            one.symbol, one.price, one.price, one.price, b'O', b'L')
        yield self.system(b'Q')
        for one in self.instruments:
            self.match += 1
            yield CROSS(b'Q', one.locate, 0, self.stamp(), 0, one.symbol, 0, self.match, b'O')

    def pause(self, one, halted):
        one.halted = halted
        return ACTION(b'H', one.locate, 0, self.stamp(), one.symbol, b'P' if halted else b'T',
                      b' ', b'LUDP' if halted else b'    ')

    def close(self, code):
        return self.system(code)

    # -- the book -------------------------------------------------------------------------------

    def insert(self, one, side, price, shares):
        self.reference += 1 + self.below(4)
        reference = self.reference
        self.orders[reference] = [one, side, price, shares, len(one.live)]
        one.live.append(reference)
        one.levels[side].setdefault(price, {})[reference] = None
        best = one.best[side]
        if best is None or (price > best if side == b'B' else price < best):
            one.best[side] = price
        return reference

    def remove(self, reference):
        one, side, price, _, position = self.orders.pop(reference)
        last = one.live.pop()
        if last != reference:
            one.live[position] = last
            self.orders[last][4] = position
        levels = one.levels[side]
        level = levels[price]
        del level[reference]
        if not level:
            del levels[price]
            if price == one.best[side]:
                one.best[side] = (max(levels) if side == b'B' else min(levels)) if levels else None

    def price_for(self, one, side):
        """Mostly at or near the best price of the side, sometimes inside the spread."""
        step = -TICK if side == b'B' else TICK
        same, other = one.best[side], one.best[b'S' if side == b'B' else b'B']
        if same is None:
            same = (other if other is not None else one.price) + step
        draw = self.random()
        far = draw - 0.45
        away = -1 if draw < 0.12 else 0 if far < 0 else 1 + int(far * far * 40)
        price = same + away * step
        if other is not None and (price >= other if side == b'B' else price <= other):
            price = other + step
        return max(price, TICK)

    # -- one event of the order flow: a list of messages -------------------------------------------

    def add(self, one):
        side = b'B' if self.random() < 0.5 else b'S'
        # Neither side runs dry.
        thin = min((b'B', b'S'), key=lambda s: len(one.levels[s]))
        if len(one.levels[thin]) < 3:
            side = thin
        shares = 100 * (1 + self.below(9)) if self.random() < 0.8 else 1 + self.below(300)
        price = self.price_for(one, side)
        if price == TICK and side == b'S':
            side = b'B'
        reference = self.insert(one, side, price, shares)
        if self.random() < 0.04:
            return [ADD_MPID(b'F', one.locate, 0, self.stamp(), reference, side, shares,
                             one.symbol, price, b'WIRE')]
        return [ADD(b'A', one.locate, 0, self.stamp(), reference, side, shares, one.symbol, price)]

    def delete(self, one):
        reference = one.live[self.below(len(one.live))]
        self.remove(reference)
        return [DELETE(b'D', one.locate, 0, self.stamp(), reference)]

    def cancel(self, one):
        reference = one.live[self.below(len(one.live))]
        order = self.orders[reference]
        if order[3] < 2:
            return self.add(one)
        taken = 1 + self.below(order[3] - 1)
        order[3] -= taken
        return [CANCEL(b'X', one.locate, 0, self.stamp(), reference, taken)]

    def replace(self, one):
        reference = one.live[self.below(len(one.live))]
        side, shares = self.orders[reference][1], self.orders[reference][3]
        self.remove(reference)
        if self.random() < 0.3:
            shares = 100 * (1 + self.below(9))
        price = self.price_for(one, side)
        renewed = self.insert(one, side, price, shares)
        return [REPLACE(b'U', one.locate, 0, self.stamp(), reference, renewed, shares, price)]

    def execute(self, one):
        """An order comes in and takes from the best level, one or several orders of it."""
        side = b'B' if self.random() < 0.5 else b'S'
        if one.halted or len(one.levels[side]) < 2:
            return self.add(one)
        wanted = 100 * (1 + self.below(12))
        messages = []
        price = one.best[side]
        while wanted > 0 and one.best[side] == price:
            reference = next(iter(one.levels[side][price]))
            order = self.orders[reference]
            taken = min(wanted, order[3])
            wanted -= taken
            self.match += 1
            if self.random() < 0.03:
                messages.append(EXECUTED_PRICE(
                    b'C', one.locate, 0, self.stamp(), reference, taken, self.match,
                    b'Y' if self.random() < 0.7 else b'N', price))
            else:
                messages.append(EXECUTED(b'E', one.locate, 0, self.stamp(), reference, taken,
                                         self.match))
            if taken == order[3]:
                self.remove(reference)
            else:
                order[3] -= taken
        one.price = price
        self.printed = [*self.printed[-9:], (one, self.match)]
        return messages

    def trade(self, one):
        """An execution against an order that was never shown."""
        if one.halted or one.best[b'B'] is None:
            return self.add(one)
        self.match += 1
        return [TRADE(b'P', one.locate, 0, self.stamp(), 0, b'B', 100 * (1 + self.below(5)),
                      one.symbol, one.best[b'B'], self.match)]

    def broken(self, one):
        if not self.printed:
            return self.add(one)
        one, match = self.printed.pop(0)
        return [BROKEN(b'B', one.locate, 0, self.stamp(), match)]

    def event(self, one):
        """What the order flow does next in this stock."""
        live = len(one.live)
        if live < 8:
            return self.add(one)
        draw = self.random()
        if draw < 0.055:
            return self.execute(one)
        if draw < 0.075:
            return self.cancel(one)
        if draw < 0.155:
            return self.replace(one)
        if draw < 0.165:
            return self.trade(one)
        if draw < 0.1655:
            return self.broken(one)
        # Around the target as many orders go as come.
        return self.delete(one) if self.random() * 2 * self.target < live - 8 else self.add(one)
