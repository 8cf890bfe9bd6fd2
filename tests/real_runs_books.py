"""Books built the obvious way from an independent dissector's decode of a capture: dictionaries,
no sequence, no batches. What `wirebook replay` must come to, for tests/real_runs_test.py.

One class a feed, fed with the golden messages of one frame after the other; only captures without
loss, repetition or a second session make sense here. Prices stay integers of the wire.
"""
import collections

NO_ORDERS = 0


def text(digits):
    return bytes.fromhex(digits).decode('latin-1').rstrip(' ')


class Trades:
    """Statistics of the trades that count."""

    def __init__(self):
        self.count = self.volume = 0
        self.open = self.high = self.low = self.last = None

    def add(self, price, quantity):
        self.count += 1
        self.volume += quantity
        self.open = price if self.open is None else self.open
        self.high = price if self.high is None else max(self.high, price)
        self.low = price if self.low is None else min(self.low, price)
        self.last = price


class Books:
    """What all feeds have in common: sides as {price: [quantity, orders]}, touches, crossing."""

    order = 'big'
    places = 4
    trades_unless_told = False

    def __init__(self):
        self.symbols = {}
        self.sides = collections.defaultdict(lambda: {'B': {}, 'S': {}})
        self.touched_at = {}
        self.waiting = []        # touched, in order of first touch
        self.open_events = set()
        self.trading = {}
        self.trades = collections.defaultdict(Trades)
        self.matches = {}        # id -> (key, quantity, counts)
        self.counts = collections.Counter()
        self.top, self.packet = [], 0

    def number(self, message, name):
        value = bytes.fromhex(message['x'][name])
        return int.from_bytes(value, self.order, signed=self.order == 'little' and len(value) == 8)

    def touch(self, key, time_ns):
        self.touched_at[key] = time_ns
        if key not in self.waiting:
            self.waiting.append(key)

    def trade(self, key, match, price, quantity, counts):
        self.matches[match] = (key, quantity, counts)
        if counts and quantity:
            self.trades[key].add(price, quantity)

    def trade_broken(self, match):
        key, quantity, counts = self.matches.pop(match, (None, 0, False))
        if counts:
            self.trades[key].count -= 1
            self.trades[key].volume -= quantity

    def is_trading(self, key):
        return self.trading.get(key, self.trades_unless_told)

    def best(self, key, side):
        prices = self.sides[key][side]
        if not prices:
            return None
        price = max(prices) if side == 'B' else min(prices)
        return (price, *prices[price])

    def frame(self, messages, sequence):
        for message in messages:
            self.on(text(message['x']['message_type']), message)
        ready = [key for key in self.waiting if key not in self.open_events]
        self.waiting = [key for key in self.waiting if key in self.open_events]
        for key in ready:
            bid, ask = self.best(key, 'B'), self.best(key, 'S')
            if bid and ask and bid[0] > ask[0] and self.is_trading(key):
                self.counts['crossed'] += 1
            self.top.append(','.join([str(self.packet), str(sequence), str(self.touched_at[key]),
                                      self.symbols[key], self.cell(bid), self.cell(ask)]))
        self.packet += 1

    def price(self, ticks):
        if self.places == 0:
            return str(ticks)
        sign, ticks = '-' if ticks < 0 else '', abs(ticks)
        return f'{sign}{ticks // 10 ** self.places}.{ticks % 10 ** self.places:0{self.places}}'

    def cell(self, best):
        return f'{self.price(best[0])},{best[1]},{best[2]}' if best else ',0,0'

    def final(self):
        keys = [key for key, sides in self.sides.items() if sides['B'] or sides['S']]
        for key in sorted(keys, key=lambda one: (self.symbols[one].encode('latin-1'), one)):
            for side in 'BS':
                levels = sorted(self.sides[key][side].items(), reverse=side == 'B')
                for at, (price, (quantity, orders)) in enumerate(levels):
                    yield f'{self.symbols[key]},{side},{at},{self.price(price)},{quantity},{orders}'


class OrderBooks(Books):
    """Order by order."""

    def __init__(self):
        super().__init__()
        self.orders = {}  # reference -> [key, side, price, quantity]
        self.hours = {}   # group -> in continuous session

    def level(self, order, quantity, orders):
        prices = self.sides[order[0]][order[1]]
        level = prices.setdefault(order[2], [0, 0])
        level[0] += quantity
        level[1] += orders
        if level == [0, 0]:
            del prices[order[2]]

    def add(self, reference, key, side, price, quantity, time_ns):
        if quantity == 0 or side not in 'BS':
            self.counts['bad_orders'] += 1
        elif reference in self.orders:
            self.counts['duplicate_orders'] += 1
        else:
            self.orders[reference] = [key, side, price, quantity]
            self.level(self.orders[reference], quantity, 1)
            self.touch(key, time_ns)

    def take(self, reference, quantity, time_ns):
        """quantity None: all. Gives the order, None where it is unknown."""
        order = self.orders.get(reference)
        if order is None:
            self.counts['unknown_orders'] += 1
            return None
        left = order[3]
        if quantity is not None and quantity > left:
            self.counts['overfills'] += 1
        taken = left if quantity is None else min(quantity, left)
        self.level(order, -taken, -1 if taken == left else 0)
        order[3] -= taken
        if taken == left:
            del self.orders[reference]
        self.touch(order[0], time_ns)
        return order

    def replace(self, reference, new_reference, price, quantity, time_ns):
        order = self.take(reference, None, time_ns)
        if order:
            self.add(new_reference, order[0], order[1], price, quantity, time_ns)


class Itch50(OrderBooks):
    def on(self, kind, m):
        locate, now = self.number(m, 'stock_locate'), self.number(m, 'timestamp')
        get = lambda name: self.number(m, name)
        letter = lambda name: text(m['x'][name])
        reference = get('order_reference_number') if 'order_reference_number' in m['x'] else None
        if kind == 'R' or kind in 'AF' and locate not in self.symbols:
            self.symbols[locate] = letter('stock')
        if kind == 'S' and letter('event_code') in 'QM':
            self.hours[0] = letter('event_code') == 'Q'
        elif kind == 'H':
            self.trading[locate] = letter('trading_state') == 'T'
        elif kind in 'AF':
            self.add(reference, locate, letter('buy_sell_indicator'), get('price'), get('shares'),
                     now)
        elif kind in 'EC':
            order = self.take(reference, get('executed_shares'), now)
            if order:
                price = get('execution_price') if kind == 'C' else order[2]
                counts = kind == 'E' or letter('printable') != 'N'
                self.trade(locate, get('match_number'), price, get('executed_shares'), counts)
        elif kind == 'X':
            self.take(reference, get('canceled_shares'), now)
        elif kind == 'D':
            self.take(reference, None, now)
        elif kind == 'U':
            self.replace(get('original_order_reference_number'),
                         get('new_order_reference_number'), get('price'), get('shares'), now)
        elif kind == 'P':
            self.trade(locate, get('match_number'), get('price'), get('shares'), True)

    def is_trading(self, key):
        return self.hours.get(0, False) and super().is_trading(key)


class Jnx(OrderBooks):
    places = 0  # of the captures here, none of which has a directory
    seconds = 0

    def on(self, kind, m):
        get = lambda name: self.number(m, name)
        letter = lambda name: text(m['x'][name])
        if kind == 'T':
            self.seconds = get('seconds')
            return
        now = self.seconds * 10 ** 9 + get('nanoseconds')
        key = (letter('group'), get('orderbook_id')) if 'orderbook_id' in m['x'] else None
        if kind == 'S' and letter('system_event') in 'QM':
            self.hours[letter('group')] = letter('system_event') == 'Q'
        elif kind == 'H':
            self.trading[key] = letter('trading_state') == 'T'
        elif kind in 'AF':
            letters = bytes.fromhex(m['x']['orderbook_id'])
            printable = all(0x20 <= one <= 0x7E for one in letters)
            name = letters.decode('latin-1') if printable else str(key[1])
            self.symbols.setdefault(key, f'{name}.{key[0]}')
            self.add(get('order_number'), key, letter('buy_sell_indicator'), get('price'),
                     get('quantity'), now)
        elif kind == 'E':
            order = self.take(get('order_number'), get('executed_quantity'), now)
            if order:
                self.trade(order[0], get('match_number'), order[2], get('executed_quantity'), True)
        elif kind == 'D':
            self.take(get('order_number'), None, now)
        elif kind == 'U':
            self.replace(get('original_order_number'), get('new_order_number'), get('price'),
                         get('quantity'), now)

    def is_trading(self, key):
        return self.hours.get(key[0], False) and super().is_trading(key)


class Iex(Books):
    order = 'little'
    trades_unless_told = True

    def on(self, kind, m):
        if kind == 'S':
            return
        now, key = self.number(m, 'timestamp'), m['x']['symbol']
        self.symbols[key] = text(key)
        if kind == 'H':
            self.trading[key] = text(m['x']['trading_status']) == 'T'
        elif kind == 'Q':
            self.quote(key, m, now)
        elif kind in '85':
            self.price_level(key, 'B' if kind == '8' else 'S', m, now)
        elif kind == 'T':
            extended, odd, cross = (self.flag(m, name) for name in
                                    ('extended_hours', 'odd_lot', 'singleprice_cross_trade'))
            self.trade(key, self.number(m, 'trade_id'), self.number(m, 'price'),
                       self.number(m, 'size'), not extended and (cross or not odd))
        elif kind == 'B':
            self.trade_broken(self.number(m, 'trade_id'))

    @staticmethod
    def flag(m, name):
        return int(m['f'][name]) != 0

    def quote(self, key, m, now):
        for side, name in (('B', 'bid'), ('S', 'ask')):
            size = self.number(m, f'{name}_size')
            price = self.number(m, f'{name}_price')
            self.sides[key][side] = {price: [size, NO_ORDERS]} if size else {}
        self.touch(key, now)

    def price_level(self, key, side, m, now):
        price, size = self.number(m, 'price'), self.number(m, 'size')
        if self.number(m, 'event_flags') & 1:
            self.open_events.discard(key)
        else:
            self.open_events.add(key)
        if size:
            self.sides[key][side][price] = [size, NO_ORDERS]
        elif self.sides[key][side].pop(price, None) is None:
            self.counts['unknown_levels'] += 1
            return
        self.touch(key, now)
