#!/usr/bin/env python3
"""wirebook bind and unbind, and dpdk-config/bind.sh without them, on made-up hosts.

usage: bind_test.py WIREBOOK [CHECK...]
"""
import os
import subprocess
import sys
import time

import e2e_tools
from e2e_tools import ROOT, run
from fake_host import FEED, FEED_B, OWN, PCI, Host, Kernel

SSH = {'SSH_CONNECTION': '10.0.0.9 50312 10.0.0.2 22'}


def kernel_host(folder):
    """The feed's NIC is with the kernel, as eth1."""
    host = Host(folder / 'host')
    host.nic(FEED, 'ice', interface='eth1')
    host.nic(FEED_B, 'ice', interface='eth2')
    return host


def bind(program, host, *arguments, verb='bind', status=0, **options):
    options.setdefault('env', {k: v for k, v in os.environ.items() if k != 'SSH_CONNECTION'})
    done = run(program, verb, '--root', host.folder, *arguments, status=status, **options)
    return done.stdout.decode(), done.stderr.decode()


def check_bind_and_unbind(program, folder):
    host = kernel_host(folder)
    with Kernel(host) as kernel:
        bind(program, host, FEED)
        assert host.driver_of(FEED) == 'vfio-pci'
        assert kernel.log == [('drivers/ice/unbind', FEED), ('drivers_probe', FEED)], kernel.log
        assert host.read(f'{PCI}/devices/{FEED}/driver_override') == 'vfio-pci\n'
        assert 'nothing to do' in bind(program, host, FEED)[1]
        bind(program, host, FEED, verb='unbind')
        assert host.driver_of(FEED) == 'ice'
        assert host.read(f'{PCI}/devices/{FEED}/driver_override') == '\n'
        assert 'nothing to do' in bind(program, host, FEED, verb='unbind')[1]
        assert len(kernel.log) == 4 and host.driver_of(OWN) == 'e1000e'


def check_names_of_devices(program, folder):
    host = kernel_host(folder)
    with Kernel(host):
        bind(program, host, '3b:00.0', 'eth2', FEED_B)  # the last two are one
        assert host.driver_of(FEED) == host.driver_of(FEED_B) == 'vfio-pci'
        for name in ('0000:99:00.0', 'eth9', '../../x', '3b:00'):
            error = bind(program, host, name, status=2)[1]
            assert 'there is no PCI device' in error and OWN in error, error
        bind(program, host, status=2)
        bind(program, host, FEED, '--driver', 'e1000e', status=2)


def refused(program, host, why, *arguments, verb='bind', **options):
    error = bind(program, host, *arguments, verb=verb, status=3, **options)[1]
    assert why in error and 'nothing was changed' in error, error
    assert host.driver_of(FEED) in ('ice', 'vfio-pci')


def check_a_nic_in_use_is_refused(program, folder):
    host = kernel_host(folder)
    with Kernel(host) as kernel:
        refused(program, host, 'carries the default route', OWN)
        host.write('proc/net/tcp', '  sl  local rem st\n  0: 0200000A:0016 0900000A:C488 01 x\n')
        refused(program, host, '1 open TCP connection', OWN)
        refused(program, host, 'the ssh session from 10.0.0.9', OWN, env=os.environ | SSH)
        # One that may go beside one that may not: neither goes.
        refused(program, host, 'the default route', FEED, OWN)
        routes = host.read('proc/net/route')
        host.write('proc/net/route', routes + 'eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n')
        refused(program, host, 'the route 192.168.0.0/16', FEED)
        host.write('proc/net/route', routes)
        zero = '0' * 32
        host.write('proc/net/ipv6_route',
                   f'fe80{"0" * 28} 40 {zero} 00 {zero} 00000100 00000001 00000000 00000001     eth1\n'
                   f'20010db8{"0" * 24} 40 {zero} 00 {zero} 00000100 00000001 00000000 00000001     eth1\n')
        refused(program, host, 'the route 2001:db8:0:0:0:0:0:0/64', FEED)
        host.remove('proc/net/ipv6_route')
        # A bond on it carries the route.
        host.write('sys/class/net/eth1/upper_bond0/x', '')
        refused(program, host, 'the interface bond0', FEED)
        host.replace('proc/net/route', 'eth0', 'bond0')
        refused(program, host, 'the default route (by bond0)', FEED)
        assert not kernel.log
        error = bind(program, host, FEED, '--force')[1]
        assert 'forced, although' in error and host.driver_of(FEED) == 'vfio-pci', error


def check_sessions_over_ipv6(program, folder):
    host = kernel_host(folder)
    own = '20010db8000000000000000000000005'
    host.write('proc/net/if_inet6', f'{own} 03 40 00 80     eth1\n')
    # The same address as the kernel prints it in tcp6, and one of IPv4 in IPv6 on the other NIC.
    host.write('proc/net/tcp6', '  sl  local rem st\n'
               f'  0: B80D0120000000000000000005000000:0016 {"0" * 32}:1234 01 x\n'
               f'  1: 0000000000000000FFFF00000200000A:0016 {"0" * 32}:1234 01 x\n')
    with Kernel(host):
        refused(program, host, 'eth1 carries 1 open TCP connection', FEED)
        host.write('proc/net/route', host.read('proc/net/route').splitlines()[0] + '\n'
                   'eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n')
        refused(program, host, 'the route 10.0.0.0/24, 1 open TCP connection', OWN)


def check_other_refusals(program, folder):
    host = kernel_host(folder)
    with Kernel(host):
        host.nic('0000:00:17.0', 'ahci', kind='0x010601')
        host.join_group('0000:00:17.0', '30')
        refused(program, host, 'not a network device', '0000:00:17.0')
        host.nic('0000:5e:00.0', 'mlx5_core', interface='eth5')
        host.join_group('0000:5e:00.0', '31')
        refused(program, host, 'there is nothing to bind', '0000:5e:00.0')
        host.remove(f'{PCI}/devices/{FEED}/iommu_group')
        refused(program, host, 'no IOMMU group', FEED)
        bind(program, host, FEED, '--driver', 'uio_pci_generic')
        assert host.driver_of(FEED) == 'uio_pci_generic'


def check_the_group_is_named(program, folder):
    host = kernel_host(folder)
    host.join_group(FEED_B, '17')
    host.nic('0000:3a:00.0', 'pcieport', kind='0x060400')  # a bridge does not count
    host.join_group('0000:3a:00.0', '17')
    with Kernel(host):
        error = bind(program, host, FEED)[1]
        assert f'note: {FEED_B} (eth2, 8086:1592, ice) is in its IOMMU group 17' in error, error
        assert '0000:3a:00.0' not in error


def check_a_missing_driver(program, folder):
    host = kernel_host(folder)
    host.remove(f'{PCI}/drivers/vfio-pci')
    with Kernel(host) as kernel:
        error = bind(program, host, FEED, status=3)[1]
        assert 'sudo modprobe vfio-pci' in error and not kernel.log, error


def check_a_failed_bind_restores(program, folder):
    host = kernel_host(folder)
    with Kernel(host, takes=('ice',)):
        error = bind(program, host, FEED, status=3)[1]
        assert 'vfio-pci does not take it' in error and 'ice has it back' in error, error
        assert host.driver_of(FEED) == 'ice'
        assert host.read(f'{PCI}/devices/{FEED}/driver_override') == '\n'


def check_nobody_takes_it_back(program, folder):
    host = kernel_host(folder)
    with Kernel(host, takes=('vfio-pci',)):
        bind(program, host, FEED)
        error = bind(program, host, FEED, verb='unbind', status=3)[1]
        assert 'no kernel driver takes it' in error and 'vfio-pci has it back' in error, error
        assert host.driver_of(FEED) == 'vfio-pci'


def check_a_program_that_holds_it(program, folder):
    host = kernel_host(folder)
    with Kernel(host):
        bind(program, host, FEED)
        host.write('proc/4711/comm', 'wirebook')
        (host.folder / 'proc/4711/fd').mkdir()
        host.link('proc/4711/fd/9', '/dev/vfio/17')
        refused(program, host, 'in use by process 4711 (wirebook)', FEED, verb='unbind')
        bind(program, host, FEED, '--force', verb='unbind')
        assert host.driver_of(FEED) == 'ice'


def check_dry_run_writes_nothing(program, folder):
    host = kernel_host(folder)
    with Kernel(host) as kernel:
        said = bind(program, host, FEED, '--dry-run')[0]
        own = f'{host.folder}/{PCI}'
        assert said.splitlines() == [f'echo vfio-pci > {own}/devices/{FEED}/driver_override',
                                     f'echo {FEED} > {own}/drivers/ice/unbind',
                                     f'echo {FEED} > {own}/drivers_probe'], said
        assert not kernel.log and host.driver_of(FEED) == 'ice'
        # It is a shell script.
        subprocess.run(['sh', '-c', said], check=True)
        deadline = time.monotonic() + 10
        while host.driver_of(FEED) != 'vfio-pci':
            assert time.monotonic() < deadline


def check_a_configurations_ports(program, folder):
    host = kernel_host(folder)
    host.nic('0000:5e:00.0', 'mlx5_core', interface='eth5')
    path = folder / 'c.toml'
    lines = ''.join(f'[[port]]\ndevice = "{device}"\n'
                    for device in (FEED, '3b:00.1', '0000:5e:00.0', 'net_ring0'))
    path.write_text(lines + '[[channel]]\nname = "a"\nfeed = "itch50"\n'
                    'lines = [ { group = "233.54.12.1:20001", port = 0 } ]\n')
    with Kernel(host):
        error = bind(program, host, '-c', path)[1]
        assert host.driver_of(FEED) == host.driver_of(FEED_B) == 'vfio-pci'
        assert 'stays with its kernel driver mlx5_core' in error, error
        bind(program, host, '-c', folder / 'none.toml', status=2)


def script(host, *arguments, status=0, **environment):
    done = subprocess.run(['sh', ROOT / 'dpdk-config/bind.sh', *arguments], capture_output=True, check=False,
                          env=os.environ | {'WIREBOOK_HOST': str(host.folder)} | environment)
    assert done.returncode == status, done
    return done.stdout.decode() + done.stderr.decode()


def check_the_script_without_a_binary(program, folder):
    host = kernel_host(folder)
    alone = {'WIREBOOK_BIND_ALONE': 'yes'}
    with Kernel(host) as kernel:
        assert 'the default route' in script(host, OWN, status=3, **alone)
        script(host, '0000:99:00.0', status=2, **alone)
        script(host, status=2, **alone)
        assert 'drivers_probe' in script(host, FEED, '--dry-run', **alone)
        assert not kernel.log
        host.remove(f'{PCI}/devices/{FEED_B}/iommu_group')
        assert 'no IOMMU group' in script(host, FEED_B, status=3, **alone)
        script(host, FEED, **alone)
        assert host.driver_of(FEED) == 'vfio-pci'
        assert 'nothing to do' in script(host, FEED, **alone)
        script(host, '--unbind', FEED, **alone)
        assert host.driver_of(FEED) == 'ice'


def check_the_script_with_a_failing_driver(program, folder):
    host = kernel_host(folder)
    with Kernel(host, takes=('ice',)):
        said = script(host, FEED, status=3, WIREBOOK_BIND_ALONE='yes')
        assert 'does not take it' in said and host.driver_of(FEED) == 'ice', said


def check_the_script_hands_over_to_the_binary(program, folder):
    host = kernel_host(folder)
    copy = folder / 'dpdk-config'
    copy.mkdir()
    for name in ('bind.sh', 'unbind.sh'):
        (copy / name).write_text((ROOT / 'dpdk-config' / name).read_text())
    (folder / 'build').mkdir()
    (folder / 'build/wirebook').symlink_to(program)
    environment = os.environ | {'WIREBOOK_HOST': str(host.folder)}
    with Kernel(host):
        for name, driver in (('bind.sh', 'vfio-pci'), ('unbind.sh', 'ice')):
            done = subprocess.run(['sh', copy / name, FEED], env=environment, capture_output=True, check=True)
            assert done.stderr.startswith(b'wirebook: ') and host.driver_of(FEED) == driver, done


if __name__ == '__main__':
    sys.exit(e2e_tools.main(globals()))
