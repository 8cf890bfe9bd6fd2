"""A made-up host for the tests of doctor, bind and dpdk-config: a folder with sys, proc, dev, etc.

Host(folder) is a good machine: two NUMA nodes of four cores, an Intel NIC of two ports that is bound
to vfio-pci, another one that carries the machine's own traffic. Tests break one thing of it.
Kernel(host) answers writes to unbind and drivers_probe as Linux does.
"""
import os
import pathlib
import select
import shutil
import threading

FEED, FEED_B, OWN = '0000:3b:00.0', '0000:3b:00.1', '0000:00:1f.6'
GROUPS = {FEED: '17', FEED_B: '18', OWN: '16'}
LIMITS = '''Limit                     Soft Limit           Hard Limit           Units
Max open files            65536                65536                files
Max locked memory         unlimited            unlimited            bytes
'''
ROUTES = '''Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t0100000A\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t0000000A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
'''
PCI = 'sys/bus/pci'
CPU = 'sys/devices/system/cpu'


class Host:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self._cpus()
        self._memory()
        self._process()
        for name in ('vfio-pci', 'uio_pci_generic', 'ice', 'e1000e'):
            (self.folder / PCI / 'drivers' / name).mkdir(parents=True)
        self.nic(FEED, 'vfio-pci', node=1)
        self.nic(FEED_B, 'vfio-pci', node=1)
        self.nic(OWN, 'e1000e', interface='eth0', node=0)
        self.write('sys/class/iommu/dmar0/x', '')
        self.write('sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts', 'N\n')
        for file in ('vfio', '17', '18'):
            self.write(f'dev/vfio/{file}', '')
        self.write('proc/net/route', ROUTES)
        self.write('proc/net/tcp', '  sl  local_address rem_address   st\n')

    def _cpus(self):
        flags = 'fpu tsc constant_tsc nonstop_tsc avx2'
        self.write('proc/cpuinfo', f'processor : 0\nmodel name : Test CPU\nflags : {flags}\n')
        self.write('proc/cmdline', 'ro quiet isolcpus=6-7 nohz_full=6-7 rcu_nocbs=6-7')
        self.write('proc/1/cgroup', '0::/init.scope')
        self.write('proc/sys/kernel/osrelease', '6.1.0-test')
        self.write('proc/sys/kernel/sched_rt_runtime_us', '-1')
        self.write('proc/sys/kernel/sched_rt_period_us', '1000000')
        self.write('proc/sys/kernel/numa_balancing', '0')
        self.write(f'{CPU}/online', '0-7')
        self.write(f'{CPU}/isolated', '6-7')
        self.write(f'{CPU}/nohz_full', '6-7')
        self.write(f'{CPU}/smt/active', '1')
        for cpu in range(8):
            own = f'{CPU}/cpu{cpu}'
            self.write(f'{own}/topology/thread_siblings_list', f'{cpu & ~1}-{cpu | 1}')
            self.write(f'{own}/cpufreq/scaling_governor', 'performance')
            for state, (name, latency, disable) in enumerate([('POLL', 0, 0), ('C1', 2, 0), ('C6', 133, 1)]):
                self.write(f'{own}/cpuidle/state{state}/name', name)
                self.write(f'{own}/cpuidle/state{state}/latency', latency)
                self.write(f'{own}/cpuidle/state{state}/disable', disable)
        for node, cpus in enumerate(('0-3', '4-7')):
            self.write(f'sys/devices/system/node/node{node}/cpulist', cpus)
        self.write('proc/irq/24/smp_affinity_list', '0-5')
        self.write('proc/irq/24/effective_affinity_list', '1')
        self.write('proc/irq/24/eth0/x', '')
        self.write('proc/irq/30/smp_affinity_list', '0-7')  # nobody handles it
        clock = 'sys/devices/system/clocksource/clocksource0'
        self.write(f'{clock}/current_clocksource', 'tsc')
        self.write(f'{clock}/available_clocksource', 'tsc hpet acpi_pm')

    def _memory(self):
        self.hugepages(1024, 1024)
        self.write('proc/meminfo', 'MemTotal:       65536000 kB\nMemAvailable:   60000000 kB\n')
        self.write('etc/sysctl.d/60-pages.conf', '# pages\nvm.nr_hugepages = 1024\n')
        self.write('proc/mounts', 'tmpfs /dev/shm tmpfs rw,size=8g 0 0\n'
                   'none /dev/hugepages hugetlbfs rw,gid=1000,mode=770,pagesize=2M 0 0\n')
        (self.folder / 'dev/hugepages').mkdir(parents=True)
        (self.folder / 'dev/shm').mkdir(parents=True)
        self.write('sys/kernel/mm/transparent_hugepage/enabled', 'always [madvise] never')

    def _process(self):
        self.write('proc/self/status', 'Name:\twirebook\nUid:\t1000\t1000\t1000\t1000\n'
                   'CapEff:\t0000000000003000\n')
        self.write('proc/self/limits', LIMITS)

    # ---- changes

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'{text}\n' if text != '' and not str(text).endswith('\n') else str(text))

    def read(self, name):
        return (self.folder / name).read_text()

    def remove(self, name):
        path = self.folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

    def replace(self, name, old, new):
        text = self.read(name)
        assert old in text, (name, old)
        self.write(name, text.replace(old, new))

    def hugepages(self, reserved, free):
        folders = ['sys/kernel/mm', 'sys/devices/system/node/node0', 'sys/devices/system/node/node1']
        for folder, share in zip(folders, (1, 2, 2)):
            for size, pages, left in (('2048', reserved, free), ('1048576', 0, 0)):
                own = f'{folder}/hugepages/hugepages-{size}kB'
                self.write(f'{own}/nr_hugepages', pages // share)
                self.write(f'{own}/free_hugepages', left // share)

    def nic(self, address, driver, interface='', node=0, kind='0x020000'):
        own = f'{PCI}/devices/{address}'
        for name, text in {'vendor': '0x8086', 'device': '0x1592', 'class': kind, 'numa_node': node,
                           'driver_override': '(null)', 'modalias': 'pci:v8086'}.items():
            self.write(f'{own}/{name}', text)
        if driver:
            self.link(f'{own}/driver', f'../../drivers/{driver}')
        if interface:
            self.write(f'{own}/net/{interface}/ifindex', '2')
            self.write(f'sys/class/net/{interface}/carrier', '1')
            self.write(f'sys/class/net/{interface}/speed', '25000')
        if address in GROUPS:
            self.join_group(address, GROUPS[address])

    def join_group(self, address, group):
        devices = self.folder / f'sys/kernel/iommu_groups/{group}/devices'
        devices.mkdir(parents=True, exist_ok=True)
        if not (devices / address).is_symlink():
            (devices / address).symlink_to(f'../../../../bus/pci/devices/{address}')
        self.link(f'{PCI}/devices/{address}/iommu_group', f'../../../../kernel/iommu_groups/{group}')

    def link(self, name, target):
        path = self.folder / name
        if path.is_symlink():
            path.unlink()
        path.symlink_to(target)

    def driver_of(self, address):
        path = self.folder / f'{PCI}/devices/{address}/driver'
        return os.path.basename(os.readlink(path)) if path.is_symlink() else ''


class Kernel:
    """Linux behind drivers/*/unbind and drivers_probe, which become FIFOs; `log` has what was
    written there. `takes`: the drivers that take a device; `own`: the device's kernel driver."""

    def __init__(self, host, takes=('vfio-pci', 'uio_pci_generic', 'ice'), own='ice'):
        self.host, self.takes, self.own, self.log = host, takes, own, []
        self.files = {}
        names = [f'{PCI}/drivers/{driver.name}/unbind' for driver in (host.folder / PCI / 'drivers').iterdir()]
        for name in [*names, f'{PCI}/drivers_probe']:
            os.mkfifo(host.folder / name)
            self.files[os.open(host.folder / name, os.O_RDWR | os.O_NONBLOCK)] = name
        self.stop_read, self.stop_write = os.pipe()
        self.thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        os.close(self.stop_write)
        self.thread.join()
        for file in [*self.files, self.stop_read]:
            os.close(file)

    def _serve(self):
        while True:
            ready = select.select([*self.files, self.stop_read], [], [])[0]
            if self.stop_read in ready:
                return
            for file in ready:
                address = os.read(file, 4096).decode().strip()
                name = self.files[file]
                self.log.append((name.removeprefix(PCI + '/'), address))
                (self._unbind if name.endswith('unbind') else self._probe)(address)

    def _unbind(self, address):
        own = f'{PCI}/devices/{address}'
        self.host.remove(f'{own}/driver')
        if (self.host.folder / own / 'net').is_dir():
            self.host.remove(f'{own}/net')

    def _probe(self, address):
        override = self.host.read(f'{PCI}/devices/{address}/driver_override').strip()
        driver = self.own if override in ('', '(null)') else override
        if not self.host.driver_of(address) and driver in self.takes:
            self.host.link(f'{PCI}/devices/{address}/driver', f'../../drivers/{driver}')
            if driver == self.own:
                self.host.write(f'{PCI}/devices/{address}/net/eth1/ifindex', '3')
