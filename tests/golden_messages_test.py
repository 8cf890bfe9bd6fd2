#!/usr/bin/env python3
"""Compares `wirebook replay FILE --messages OUT` with the decode of an independent dissector.

usage: golden_messages_test.py WIREBOOK FOLDER...

FOLDER is a folder of captures (nasdaq-itch50, bx-itch50, iex-tops, iex-deep, jnx-itch) below
$WIREBOOK_CAPTURES, by default ../shared/captures beside the repository. Next to each capture lies
FILE.golden.jsonl.gz: one JSON object a message, `hdr` the packet header, `x` the bytes of each
field in hex. Every field of ours must be among them and equal, message by message.
Exit status: 0 equal, 1 different, 77 skipped.
"""

import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77

# The dissector's name for a field -> ours, where they differ.
RENAMED = {
    "order_reference_number": "order_ref",
    "original_order_reference_number": "original_ref",
    "new_order_reference_number": "new_ref",
    "buy_sell_indicator": "side",
    "canceled_shares": "cancelled_shares",
    "cross_shares": "shares",
    "locate_code": "stock_locate",
    "primary_market_maker": "primary_mm",
    "market_maker_mode": "mode",
    "market_participant_state": "state",
    "trading_state": "state",
    "trading_action_reason": "reason",
    "reg_sho_action": "action",
    "auction_collar_reference_price": "collar_reference_price",
    "upper_auction_collar_price": "upper_collar",
    "lower_auction_collar_price": "lower_collar",
    "auction_collar_extension": "extension_number",
    "imbalance_direction": "direction",
    "current_reference_price": "reference_price",
    "price_variation_indicator": "price_variation",
    "financial_status_indicator": "financial_status",
    "short_sale_threshold_indicator": "short_sale_threshold",
    "luld_reference_price_tier": "luld_tier",
    # IEX
    "system_event": "event",
    "trading_status": "status",
    "operational_halt_status": "status",
    "short_sale_price_test_status": "status",
    "retail_liquidity_indicator": "indicator",
    "security_directory_flags": "flags",
    "quote_update_flags": "flags",
    "sale_condition_flags": "sale_flags",
    "round_lot_size": "round_lot",
    "official_price": "price",
    "upper_auction_collar": "upper_collar",
    "lower_auction_collar": "lower_collar",
    # Japannext
    "nanoseconds": "ns",
    "quantity": "qty",
    "executed_quantity": "executed_qty",
    "original_order_number": "original_number",
    "new_order_number": "new_number",
    "short_selling_state": "state",
}
RENAMED_ITCH50 = {"attribution": "attribution_mpid", "round_lot_size": "round_lot_size"}

# Single bits that the dissector shows, at times without the byte: the byte and the mask.
BITS = {
    "symbol_availability": ("flags", 0x80),
    "market_session": ("flags", 0x40),
    "test_security": ("flags", 0x80),
    "when_issued": ("flags", 0x40),
    "etp": ("flags", 0x20),
    "intermarket_sweep": ("sale_flags", 0x80),
    "extended_hours": ("sale_flags", 0x40),
    "odd_lot": ("sale_flags", 0x20),
    "trade_through_exempt": ("sale_flags", 0x10),
    "singleprice_cross_trade": ("sale_flags", 0x08),
}

# The framing, which is no field of ours.
IGNORED = {"message_length", "message_type"}

# The dissector repeats the clock of the last T in every Japannext message.
IGNORED_JNX = {"timestamp", "seconds"}


class Difference(Exception):
    pass


def golden_messages(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            message = json.loads(line)
            if message["type"] not in (None, "<not dissected>"):
                yield message


def expected_sequence(message):
    header = message["hdr"]
    for key in ("sequence_number", "udp_sequence_number", "first_message_sequence_number"):
        if key in header:
            first = int(header[key])
            return first + message["i"] - 1 if first != 0 else 0
    raise Difference(f"no sequence in the golden header {header}")


def is_ignored(folder, name, message_type):
    if name in IGNORED or name.startswith("unused_"):
        return True
    return folder == "jnx-itch" and name in IGNORED_JNX and message_type != "T"


def our_name(folder, name):
    if folder.endswith("itch50") and name in RENAMED_ITCH50:
        return RENAMED_ITCH50[name]
    return RENAMED.get(name, name)


def compare_bit(ours, name, digits):
    byte, mask = BITS[name]
    if (int(ours[byte]) & mask != 0) != (int(digits, 16) != 0):
        raise Difference(f"bit {name} is not {digits} in {ours}")
    return byte


def wire_value(folder, ours, wire):
    if isinstance(ours, str):
        return wire.decode("latin-1").rstrip(" ")
    little = folder.startswith("iex")
    return int.from_bytes(wire, "little" if little else "big", signed=little and len(wire) == 8)


def compare_message(folder, ours, golden):
    message_type = bytes.fromhex(golden["x"]["message_type"]).decode("latin-1")
    expected = {"seq": expected_sequence(golden), "type": message_type}
    for name, digits in golden["x"].items():
        if is_ignored(folder, name, message_type):
            continue
        if name in BITS:
            byte = compare_bit(ours, name, digits)
            expected.setdefault(byte, ours[byte])
            continue
        known = our_name(folder, name)
        if known not in ours:
            raise Difference(f"the golden field {name} is missing in {ours}")
        expected[known] = wire_value(folder, ours[known], bytes.fromhex(digits))
    if expected != ours:
        raise Difference(f"\n  expected {expected}\n  got      {ours}")


def replay(wirebook, capture, folder, out):
    command = [wirebook, "replay", str(capture), "--messages", str(out)]
    if folder == "jnx-itch":
        command += ["--feed", "itch-jnx"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise Difference(f"{' '.join(command)}: status {result.returncode}\n{result.stderr}")


def compare_capture(wirebook, capture, golden, folder, out):
    replay(wirebook, capture, folder, out)
    count = 0
    expected = golden_messages(golden)
    with open(out, encoding="utf-8") as lines:
        for line in lines:
            message = next(expected, None)
            if message is None:
                raise Difference(f"more messages than the {count} of the golden file: {line}")
            count += 1
            try:
                compare_message(folder, json.loads(line), message)
            except Difference as difference:
                raise Difference(f"message {count}, frame {message['frame']}: {difference}")
    if next(expected, None) is not None:
        raise Difference(f"only {count} messages, the golden file has more")
    return count


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wirebook, folders = sys.argv[1], sys.argv[2:]
    beside = pathlib.Path(__file__).resolve().parents[2] / "shared" / "captures"
    root = pathlib.Path(os.environ.get("WIREBOOK_CAPTURES", beside))
    captures = [
        (folder, golden)
        for folder in folders
        for golden in sorted((root / folder).glob("*.golden.jsonl.gz"))
    ]
    if not captures:
        print(f"skipped: no golden captures of {' '.join(folders)} in {root}")
        return SKIPPED
    failures = 0
    messages = 0
    with tempfile.TemporaryDirectory() as folder_of_output:
        out = pathlib.Path(folder_of_output) / "messages.jsonl"
        for folder, golden in captures:
            capture = golden.with_name(golden.name.removesuffix(".golden.jsonl.gz"))
            try:
                messages += compare_capture(wirebook, capture, golden, folder, out)
            except Difference as difference:
                failures += 1
                print(f"{folder}/{capture.name}: {difference}")
    print(f"{len(captures)} captures, {messages} messages, {failures} captures differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
