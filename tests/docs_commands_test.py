#!/usr/bin/env python3
"""Every command that README and docs show is run, or excused by name in RULES below.

usage: docs_commands_test.py ROOT BUILD [--list]

Commands are taken from blocks (indented by four, or fenced) and from `code` in the text and in
tables. They run with bash in a scratch folder that looks like the repository after a build, with
sample inputs under the names that the pages use. A command that no rule names runs as it stands and
must end with status 0. A rule that no command needs any more is a failure too.
"""
import dataclasses
import gzip
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import e2e_tools
import fake_host

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
PAGES = [ROOT / 'README.md', *sorted((ROOT / 'docs').glob('*.md')), ROOT / 'pcap/README.md',
         *sorted((ROOT / 'dpdk-config').glob('*.md'))]

# What a command starts with. A block or a piece of code that starts otherwise is something else.
STARTS = re.compile(r'''(?:(?:sudo|time|[A-Z_]+=\S+)[ ])*
    (?:(?:\.|\.\.|build[\w-]*|dpdk-config|pcap|tests|tools|examples)/\S+
    |(?:bash|sh|source|python3|pip|meson|ninja|make|cmake|gcc|g\+\+|clang|clang\+\+|cc|c\+\+|pkg-config
       |taskset|chrt|numactl|strip|objdump|perf|valgrind|gdb|strace|export|cd|cat|cp|mv|rm|mkdir|ls
       |chmod|chgrp|echo|printf|mount|sysctl|gzip|gunzip|zcat|zstd|tar|curl|wget|git|apt|apt-get|ip
       |ethtool|lspci|modprobe|dpdk-\w+|tcpdump|tcpreplay|kill|timeout|nohup|docker|wirebook)[ ]
    |(?:for|while)[ ]\w+[ ]in[ ])''', re.VERBOSE)


@dataclasses.dataclass
class Rule:
    """How the commands that match `pattern` are run; `excuse`: why they are not."""
    pattern: str
    excuse: str = ''
    replace: dict = dataclasses.field(default_factory=dict)
    folder: str = '.'
    needs: str = ''  # a file without which it is skipped
    used: int = 0


SLOW = 'takes minutes, and is itself what runs the tests'
FEW = {'20000000': '20000', '2000000': '20000', '--instruments 2000': '--instruments 50', '--live 200000': '--live 2000'}
SHORT = ' --benchmark_min_time=0.001 --benchmark_filter='
NIC = 'needs an interface of this machine, and root'
FAST = {'--speed 1 ': '--speed 40 '}
DPDK = 'build/dpdk'
RULES = [
    Rule(r'^(bash )?tests/run\.sh', SLOW),
    Rule(r'^meson test ', SLOW),
    Rule(r'^bash tests/vm/run\.sh', 'a suite of its own'),
    Rule(r'^(\w+=\S+ )*build/tests/', 'a unit test with longer settings'),
    Rule(r'^meson setup( |$)', 'the build that runs this test was made by it'),
    Rule(r'^ninja -C build$', 'likewise'),
    Rule(r'^meson install', 'install_test.py; here the scratch folder is made by it'),
    Rule(r'^bash dpdk-config/quickstart\.sh', 'builds, and runs for 20 s: quickstart_test.py and '
         'strategy_test.py run what it is made of'),
    Rule(r'^sudo ', 'changes this machine, as root; on made-up ones: bind_test.py, host_scripts_test.py'),
    Rule(r'^bash dpdk-config/hugepages\.sh (mount|reserve)', 'changes this machine, as root'),
    Rule(r'^(lspci|ip|cat /sys|ls /sys)', 'its output is of the machine'),
    Rule(r'^wirebook (replay|run|sim|bind|unbind|doctor)( -c FILE)?$', 'the name of a command'),
    Rule(r'^(build/)?wirebook bind 0000', 'takes a NIC from the kernel: bind_test.py, tests/vm'),
    Rule(r'^ethtool -K SENDER', 'changes an interface: live_test.py does so'),
    Rule(r'^sysctl net', 'its output is of the machine'),
    Rule(r'^(build/)?wirebook doctor', replace={'doctor': 'doctor --root host'}),
    Rule(r'check-config FILE$', replace={'FILE': 'nasdaq.toml'}),
    Rule(r'^build/wirebook tail nasdaq$', 'needs the run before it, and that a NIC'),
    Rule(r'^wirebook replay \(FILE', 'a synopsis'),
    Rule(r'^taskset -c 1$', 'a prefix'),
    Rule(r'^build/wirebook run -c dpdk-config/samples/af_packet\.toml', NIC),
    Rule(r'^build-asan/', 'needs a build with clang and -Dfuzz=true; tests/run.sh has the targets'),

    Rule(r'--speed 1 --publish .*&\n.*tail ', replace={'--speed 1 ': '--speed 4 ',
                                                       'tail demo': 'tail demo --count 20'}),
    Rule(r'--speed 1 ', replace=FAST),
    Rule(r'^build/wirebook tail demo$', 'needs the replay in the block before it, which runs it'),
    Rule(r'run -c FILE', replace={'FILE': 'port.toml'}, needs=DPDK),
    Rule(r'^cat > try\.toml', replace={'CAPTURE.pcap': 'day.pcap', 'GROUP:PORT': 'SAMPLE_GROUP',
                                       'idle=1': 'idle=0.2'}, needs=DPDK),
    Rule(r'run -c try\.toml', replace={'idle=1': 'idle=0.2'}, needs=DPDK),
    Rule(r'wirebook sim .*--udp', replace={'--duration 5': '--duration 0.5'}),
    Rule(r'wirebook sim .*--port', needs=DPDK),
    Rule(r'wirebook sim .*--messages 2\d{6,7}', replace=FEW),
    Rule(r'wirebook sim .*--pcap pcap/', 'sim_session_test.py runs it, and compares'),
    Rule(r'replay FILE', replace={'FILE': 'day.pcap'}),
    Rule(r'bench/jitter 5', replace={'jitter 5': 'jitter 1'}, needs='build/bench/jitter'),
    Rule(r'bench/wire_bench', replace={'wire_bench': 'wire_bench' + SHORT + 'parse'},
         needs='build/bench/wire_bench'),
    Rule(r'bench/book_bench', replace={'book_bench': 'book_bench --benchmark_list_tests'},
         needs='build/bench/book_bench'),
    Rule(r'bench/match_bench( |$)(?!--count)', replace={
        ' --operations 1000000 --repeat 3': '', 'match_bench': 'match_bench --operations 60000 --repeat 1'},
         needs='build/bench/match_bench'),
    Rule(r'bench/match_soak', replace={'--seconds 60': '--seconds 1', '--seconds 1800': '--seconds 1'},
         needs='build/bench/match_soak'),
    Rule(r'bench/live_latency', 'wants root, and both cores for itself: live_latency_test.py'),
    Rule(r'bench/ring_threads', 'two threads that spin: wants both cores for itself'),
    Rule(r'^valgrind ', 'wants valgrind, which nothing else does'),
    Rule(r'bench/pool_bench --csv|pool_plot', 'takes minutes; pool_bench --quick is run'),
    Rule(r'bench/pool_bench --quick', replace={'--quick': '--quick --only slab'},
         needs='build/bench/pool_bench'),
    Rule(r'bench/ring_readers_bench', replace={
        '--benchmark_repetitions=9': '--benchmark_filter=readers_plain --benchmark_min_time=0.01'},
         needs='build/bench/ring_readers_bench'),
    Rule(r'bench/ring_bench', replace={'ring_bench': 'ring_bench' + SHORT + 'poll'},
         needs='build/bench/ring_bench'),
    Rule(r'^strip ', replace={'/tmp/w': 'stripped'}),
    Rule(r'^pkg-config \S+$', replace={'pkg-config': 'pkg-config --exists'}),
    Rule(r'^g\+\+', replace={'-O2': '-O0'}),
    Rule(r'^make -C examples$', replace={'examples': 'examples CXXFLAGS=-O0'}),
]


PORT = '''[[port]]
device = "net_pcap0,rx_pcap=day.pcap"
[[channel]]
name = "itch"
feed = "itch50"
lines = [ { group = "233.54.12.111:26477", port = 0 } ]
[dpdk]
hugepages = false
'''


def group_of_sample():
    """The UDP destination of the sample's packets."""
    frame = e2e_tools.read_pcap(e2e_tools.SAMPLE)[1][0][16:]
    return '.'.join(map(str, frame[30:34])) + f':{int.from_bytes(frame[36:38], "big")}'


# ---- what the pages say

def is_whole(lines):
    """bash says whether more lines belong to the command."""
    done = subprocess.run(['bash', '-n'], input='\n'.join(lines), capture_output=True, text=True,
                          check=False)
    return done.returncode == 0 and not done.stderr


def commands_of_block(lines):
    """Commands of a block, from the first line that is one on. What a background command is
    followed by runs with it."""
    found, pending = [], []
    for line in lines:
        if not pending and (not STARTS.match(line + ' ') or line.startswith('#')):
            continue
        pending.append(line)
        if re.search(r'&\s*(#.*)?$', line) or not is_whole(pending):
            continue
        found.append('\n'.join(pending))
        pending = []
    return found + (['\n'.join(pending)] if pending else [])


def blocks_of(text):
    """(line number, language or '', lines) of every block; the rest of the text as language None."""
    fence, block, start, before = None, [], 0, ''
    for number, line in enumerate(text.split('\n') + ['(end)'], 1):
        mark = re.match(r' *```(\w*)$', line)
        if mark and fence is None:
            fence, block, start = mark[1], [], number + 1
        elif mark:
            yield start, fence, block
            fence, block = None, []
        elif fence is not None:
            block.append(line)
        elif line.startswith('    ') and (block or not before.strip()):
            start = start if block else number
            block.append(line.strip())
        elif not line.strip() and block:
            block.append('')
        else:
            if block:
                yield start, '', block
            block = []
            yield number, None, [line]
        before = line


def commands_of(page):
    """(line number, command) in the order of the page."""
    for number, language, lines in blocks_of(page.read_text(encoding='utf-8')):
        if language is None:
            spans = [s.replace('\\|', '|') for s in re.findall(r'`([^`]+)`', lines[0])]
            yield from ((number, s) for s in spans if ' ' in s and STARTS.match(s + ' '))
        elif language in ('', 'sh', 'bash', 'console', 'shell'):
            yield from ((number, command) for command in commands_of_block(lines))


# ---- where they run

def build_folder(folder):
    (folder / 'build/examples').mkdir(parents=True)
    (folder / 'build/wirebook').symlink_to(BUILD / 'wirebook')
    if (BUILD / 'bench').is_dir():
        (folder / 'build/bench').symlink_to(BUILD / 'bench')
    help_text = subprocess.run([BUILD / 'wirebook', 'run', '--help'], capture_output=True, text=True,
                               check=False)
    if 'no DPDK' not in help_text.stdout + help_text.stderr and help_text.returncode == 0:
        (folder / DPDK).touch()
        (folder / 'port.toml').write_text(PORT)


def installed(folder):
    """The environment in which pkg-config finds what `meson install` leaves."""
    subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--tags',
                    'devel,runtime', '--destdir', folder / 'installed'], check=True,
                   stdout=subprocess.DEVNULL)
    config = next((folder / 'installed').rglob('wirebook-ring.pc')).parent
    return os.environ | {'PKG_CONFIG_PATH': str(config),
                         'PATH': f'{folder}/build:{os.environ["PATH"]}'}


def scratch(folder):
    """The repository after a build, as far as commands need it, and their inputs."""
    for name in ('pcap', 'dpdk-config', 'examples'):
        shutil.copytree(ROOT / name, folder / name)
    shutil.copytree(ROOT / 'tests/corpus', folder / 'tests/corpus')
    build_folder(folder)
    sample = e2e_tools.SAMPLE
    for name in ('day.pcap', 'a.pcap', 'b.pcap'):
        shutil.copy(sample, folder / name)  # a command may write to it
    (folder / 'day.pcap.gz').write_bytes(gzip.compress(sample.read_bytes(), 1))
    for source in (ROOT / 'dpdk-config/samples').glob('*.toml'):
        shutil.copy(source, folder)
    for name, source in {'mine.cpp': 'top_of_book.cpp', 'embed_books.cpp': 'embed_books.cpp',
                         'reader.c': 'reader.c'}.items():
        shutil.copy(ROOT / 'examples' / source, folder / name)
    host = fake_host.Host(folder / 'host')
    host.write('sys/class/net/veth1/carrier', 1)  # of samples/af_packet.toml
    environment = installed(folder)
    flags = subprocess.run(['pkg-config', '--cflags', 'wirebook-ring'], env=environment, check=True,
                           capture_output=True, text=True).stdout.split()
    subprocess.run(['g++', '-std=c++20', '-O0', folder / 'mine.cpp', *flags, '-o',
                    folder / 'build/examples/top_of_book'], check=True)
    return environment


def execute(command, rule, folder, environment):
    """None where it went well, else what is wrong. Ends everything that it started."""
    for old, new in rule.replace.items() if rule else ():
        command = command.replace(old, new)
    command = command.replace('SAMPLE_GROUP', group_of_sample())
    # A name of this process: the machine may run the same test twice.
    command = re.sub(r'(--publish|tail|dump-segment|top_of_book) ([a-z]+)\b', rf'\1 \2.{os.getpid()}', command)
    # A reader who types takes longer than the replay needs for its segment.
    command = re.sub(r'\n(\S+ tail \S+)', r'\nuntil \1 --once > once 2>&1; do sleep 0.02; done\n\1',
                     command)
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(['bash', '-o', 'pipefail', '-c', command + '\nstatus=$?; kill '
                                    '$(jobs -p) 2> /dev/null; exit $status'],
                                   cwd=folder / (rule.folder if rule else '.'), env=environment,
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                   start_new_session=True)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        said = output.read().decode(errors='replace')[-1500:]
    return f'status {process.returncode}\n{said}' if process.returncode != 0 else None


def rule_of(command):
    for rule in RULES:
        if re.search(rule.pattern, command):
            rule.used += 1
            return rule
    return None


def main():
    listing = '--list' in sys.argv
    failed, ran, excused, skipped = [], 0, 0, []
    with tempfile.TemporaryDirectory(prefix='wirebook-docs.', dir='/dev/shm') as name:
        folder = pathlib.Path(name)
        environment = {} if listing else scratch(folder)
        for page in PAGES:
            for number, command in commands_of(page):
                where = f'{page.relative_to(ROOT)}:{number}: {command}'
                rule = rule_of(command)
                if rule and rule.excuse:
                    excused += 1
                elif rule and rule.needs and not listing and not (folder / rule.needs).exists():
                    skipped.append(f'{where}: this build has no {rule.needs}')
                elif not listing:
                    began = time.monotonic()
                    fault = execute(command, rule, folder, environment)
                    print(f'{time.monotonic() - began:5.1f} s  {where}', flush=True)
                    ran += 1
                    failed += [f'{where}: {fault}'] if fault else []
                if listing:
                    print(where, '   <<', rule.excuse or rule.pattern if rule else 'as it stands')
    failed += [f'rule {rule.pattern!r} matches no command any more' for rule in RULES if not rule.used]
    for text in skipped:
        print(f'SKIP: {text}')
    for text in failed:
        print(f'FAILED: {text}')
    print(f'{ran} commands ran, {excused} excused, {len(skipped)} skipped, {len(failed)} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
