"""For tests of `wirebook run` on real interfaces: a network namespace with two pairs of veth,
a0 - a1 and b0 - b1; the simulator sends on a0 and b0, the handler receives on a1 and b1.

`inside()` starts the test again in a namespace of its own, or skips it where that is not allowed.
"""
import contextlib
import json
import os
import socket
import struct
import subprocess
import sys
import time

GROUPS = ('239.192.0.1:26477', '239.192.0.2:26477')  # of the simulator's lines
MARK = 'WIREBOOK_LIVE_TEST'


def inside():
    if os.environ.get(MARK):
        return
    for how in (['unshare', '--net'], ['unshare', '--user', '--map-root-user', '--net']):
        trial = [*how, 'sh', '-c', 'ip link add a0 type veth peer name a1']
        if subprocess.run(trial, capture_output=True, check=False).returncode == 0:
            os.environ[MARK] = '1'
            os.execvp(how[0], [*how, sys.executable, *sys.argv])
    print('skipped: network namespaces with veth are not allowed here')
    sys.exit(77)


def shell(*command):
    subprocess.run(command, check=True, capture_output=True)


def make_links(mtu=1500):
    shell('sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1', 'net.ipv6.conf.default.disable_ipv6=1')
    shell('ip', 'link', 'set', 'lo', 'up')
    for name, network in (('a', 1), ('b', 2)):
        subprocess.run(['ip', 'link', 'del', f'{name}0'], capture_output=True, check=False)
        shell('ip', 'link', 'add', f'{name}0', 'type', 'veth', 'peer', 'name', f'{name}1')
        shell('ip', 'addr', 'add', f'10.9.{network}.1/24', 'dev', f'{name}0')
        for end in '01':
            shell('ip', 'link', 'set', f'{name}{end}', 'mtu', str(mtu), 'up')
        # Else the kernel leaves UDP checksums to a device that is none.
        shell('ethtool', '-K', f'{name}0', 'tx', 'off')
    time.sleep(0.1)


def configuration(folder, driver='af_packet', port='', text='', publish='', feed='itch50',
                  channel='', dpdk=''):
    """Lines A and B of one channel on two ports."""
    arguments = {'af_xdp': ',busy_budget=0'}.get(driver, '')
    ports = '\n'.join(f'[[port]]\ndevice = "net_{driver}{i},iface={name}1{arguments}"\n{port}'
                      for i, name in enumerate('ab'))
    lines = ', '.join(f'{{ group = "{group}", port = {i} }}' for i, group in enumerate(GROUPS))
    path = folder / 'live.toml'
    path.write_text(f'''{text}
{ports}
[[channel]]
name = "sim"
feed = "{feed}"
lines = [ {lines} ]
{channel}
[sizes]
orders = 1048576
levels = 65536
instruments = 4096
[dpdk]
hugepages = false
descriptors = 4096
file_prefix = "wirebook_live_{os.getpid()}"
{dpdk}
[publish]
name = "{publish}"
directory = "{folder if publish else ''}"
''')
    return path


class Service:
    """What systemd would be to the handler."""

    def __init__(self, folder, name='notify'):
        self.path = str(folder / name)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.seen = []

    def wait(self, state, seconds=30):
        end = time.monotonic() + seconds
        while not any(state in said for said in self.seen):
            left = end - time.monotonic()
            assert left > 0, f'no {state} within {seconds} s; said: {self.seen}'
            self.socket.settimeout(left)
            with contextlib.suppress(socket.timeout):
                self.seen.append(self.socket.recv(4096).decode())

    def forget(self):
        self.seen = []


class Handler:
    """A running `wirebook run`; ready when the object is made."""

    def __init__(self, program, folder, config, *arguments, name='live', prefix=(), watchdog=None):
        self.folder, self.name = folder, name
        self.service = Service(folder, f'{name}.notify')
        environment = dict(os.environ, NOTIFY_SOCKET=self.service.path)
        if watchdog is not None:
            environment['WATCHDOG_USEC'] = str(watchdog)
        self.errors = folder / f'{name}.err'
        with open(self.errors, 'wb') as errors:
            self.process = subprocess.Popen(
                [*prefix, program, 'run', '-c', str(config), '--stats',
                 str(folder / f'{name}.stats'), *map(str, arguments)],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors, env=environment)
        self.ready()

    def ready(self):
        end = time.monotonic() + 30
        while True:
            try:
                return self.service.wait('READY=1', 0.2)
            except AssertionError:
                if self.process.poll() is not None:
                    raise AssertionError(f'run ended: {self.text()}') from None
                assert time.monotonic() < end, self.text()

    def text(self):
        return self.errors.read_text()

    def wait(self, seconds=60, status=0):
        assert self.process.wait(timeout=seconds) == status, self.text()
        path = self.folder / f'{self.name}.stats'
        return json.loads(path.read_text()) if path.exists() else None

    def stop(self, how):
        self.process.send_signal(how)
        return self.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Tap:
    """Every frame on an interface, as a switch behind it sees them."""

    def __init__(self, interface):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind((interface, 0))
        self.frames = []

    def send(self, frame):
        self.socket.send(frame)

    def igmp(self, seconds, until=lambda frames: False):
        """IGMP frames of the next `seconds`, or until there are enough; own ones left out."""
        end, found = time.monotonic() + seconds, []
        while time.monotonic() < end and not until(found):
            self.socket.settimeout(max(0.001, end - time.monotonic()))
            with contextlib.suppress(socket.timeout):
                frame, address = self.socket.recvfrom(65535)
                outgoing = address[2] == socket.PACKET_OUTGOING
                if not outgoing and frame[12:14] == b'\x08\0' and frame[23] == 2:
                    found.append(frame)
                    self.frames.append(frame)
        return found


def checksum(data):
    total = sum(struct.unpack(f'>{len(data) // 2}H', data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def query(version, response_tenths, group='0.0.0.0'):
    """An IGMP query of version 2 or 3, as a frame."""
    to = '224.0.0.1' if group == '0.0.0.0' else group
    body = struct.pack('>BBH4s', 0x11, response_tenths, 0, socket.inet_aton(group))
    body += bytes([2, 125, 0, 0]) if version == 3 else b''
    body = body[:2] + struct.pack('>H', checksum(body)) + body[4:]
    head = struct.pack('>BBHHHBBH4s4s4s', 0x46, 0xC0, 24 + len(body), 0, 0, 1, 2, 0,
                       socket.inet_aton('10.9.1.254'), socket.inet_aton(to), bytes([148, 4, 0, 0]))
    head = head[:10] + struct.pack('>H', checksum(head)) + head[12:]
    low = socket.inet_aton(to)
    mac = bytes([1, 0, 0x5E, low[1] & 0x7F, low[2], low[3]])
    return mac + bytes.fromhex('0200000000fe') + b'\x08\0' + head + body


def igmp_of(frame):
    """(type, group or records) of an IGMP frame."""
    body = frame[14 + (frame[14] & 15) * 4:14 + int.from_bytes(frame[16:18], 'big')]
    assert checksum(body + b'\0' * (len(body) % 2)) == 0, body.hex()
    if body[0] != 0x22:
        return body[0], socket.inet_ntoa(body[4:8])
    records, at = [], 8
    for _ in range(int.from_bytes(body[6:8], 'big')):
        count = int.from_bytes(body[at + 2:at + 4], 'big')
        sources = [socket.inet_ntoa(body[at + 8 + 4 * i:at + 12 + 4 * i]) for i in range(count)]
        records.append((body[at], socket.inet_ntoa(body[at + 4:at + 8]), sources))
        at += 8 + 4 * count + 4 * body[at + 1]
    return 0x22, records
