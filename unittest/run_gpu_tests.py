"""Runs all tests with the label gpu, on a machine that must have a GPU, and where it has two, those
with the label gpu2. run-gpu-tests.sh calls this script.

usage: run-gpu-tests.sh BUILD_DIR [--seconds N] [ctest options]
With --seconds, no test runs longer than N seconds from now, and a further call continues with the tests
that have not passed. BUILD_DIR/gpu-tests-passed has those that have, and those that have failed, for one
state of the build, of the tests, of the GPUs and of GPUCOORD_TEST_FRESH. Tests that fail only because the
GPU had no room for a further process run again, one at a time. A test that passed after it had failed is
named. The last line says how many tests passed. A test that is skipped has not passed. Skipped parts of a
test are counted: with KOKKOS, LAMMPS lacks some features.
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys
import time

TOP = pathlib.Path(__file__).resolve().parent.parent
BUSY = re.compile(r"cudaErrorDevicesUnavailable|busy or unavailable|cudaErrorMpsConnectionFailed")
# Options of ctest that choose tests. With them, ctest would count the numbers of -I among the chosen tests.
CHOOSE = {"-R", "--tests-regex", "-E", "--exclude-regex", "-L", "--label-regex", "-LE", "--label-exclude"}


def state_of(build, gpus):
    """Return a hash of the built libraries, the list of tests, the tests and the environment."""
    files = [*build.glob("plugin/*.so"), build / "CTestTestfile.cmake", build / "unittest" / "CTestTestfile.cmake",
             *(path for path in (TOP / "unittest").rglob("*") if path.is_file() and path.suffix != ".pyc")]
    digest = hashlib.sha256(f"{gpus}{os.environ.get('GPUCOORD_TEST_FRESH', '')}".encode())
    for path in sorted(files):
        if path.exists():
            digest.update(f"{path.name}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def commit():
    done = subprocess.run(["git", "-C", TOP, "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() or "no git"


class Record:
    """The tests that have passed, each with the number of its skipped parts, and those that have failed."""

    def __init__(self, path, state):
        self.path, self.passed, self.failed = path, {}, set()
        head = f"# {state}, commit {commit()}\n"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        if lines[:1] and lines[0].split(",")[0] == head.split(",")[0]:
            for result, name in (line.split(maxsplit=1) for line in map(str.strip, lines[1:])):
                self.set(name, result)
        else:
            path.write_text(head)

    def set(self, name, result):
        if result == "failed":
            self.failed.add(name)
        else:
            self.passed[name] = int(result)

    def add(self, name, result):
        self.set(name, result)
        with open(self.path, "a") as file:
            file.write(f"{result} {name}\n")


def numbers_of(build, options):
    """Return the numbers of the selected tests by name, among all tests: without -R in front, ctest does not
    number the tests that -E excludes."""
    done = subprocess.run(["ctest", "--test-dir", build, "-N", "-R", ".", *options], stdout=subprocess.PIPE, text=True, check=True)
    return {name: int(number) for number, name in re.findall(r"^ *Test +#(\d+): (.*)$", done.stdout, re.MULTILINE)}


def run(build, numbers, options):
    """Run tests by their numbers. Return their results by name, 'Passed', 'Skipped' or others, their
    numbers of skipped parts, and the names of those that found the GPU busy."""
    listed = build / "gpu-tests-chosen"
    listed.write_text(",0,," + ",".join(map(str, sorted(numbers))) + "\n")
    process = subprocess.Popen([TOP / "cmake" / "run-tests.sh", build, "-I", listed, *options], stdout=subprocess.PIPE, text=True)
    results, parts = {}, {}
    for line in process.stdout:
        print(line, end="", flush=True)
        result = re.search(r" Test +#\d+: (\S+) \.*.*?(Passed|Skipped|Failed|Timeout|Not Run|Exception)", line)
        skipped = re.match(r"Skipped (\S+): ", line)
        if result:
            results[result[1]] = result[2]
        elif skipped:
            parts[skipped[1]] = parts.get(skipped[1], 0) + 1
    process.wait()
    log = build / "Testing" / "Temporary" / "LastTest.log"
    sections = re.split(r"^\d+/\d+ Testing: ", log.read_text(errors="replace"), flags=re.MULTILINE) if log.exists() else []
    busy = {section.split("\n", 1)[0] for section in sections[1:] if BUSY.search(section)}
    return results, parts, {name for name in busy if results.get(name) == "Failed"}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__.split("\n\n")[1].split("\n")[0])
    build, options = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    begin = time.time()
    if options[:1] == ["--seconds"]:
        options = ["--stop-time", time.strftime("%H:%M:%S", time.localtime(begin + float(options[1]))), *options[2:]]
    choice = []
    for k in reversed(range(len(options) - 1)):
        if options[k] in CHOOSE:
            choice += options[k:k + 2]
            del options[k:k + 2]

    def find_gpus(number):
        return subprocess.run([build / "unittest" / "find_gpu", str(number)], stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "GPUCOORD_REQUIRE_GPU": "0"}, check=False)

    found = find_gpus(2)
    gpus, labels = (2, "^gpu2?$") if found.returncode == 0 else (1, "^gpu$")
    names = (found if gpus == 2 else find_gpus(1)).stdout
    os.environ["GPUCOORD_REQUIRE_GPU"] = str(gpus)
    numbers = numbers_of(build, ["--label-regex", labels, *choice])
    record = Record(build / "gpu-tests-passed", state_of(build, names))
    earlier = len(record.passed.keys() & numbers)
    results = {}
    todo, workers = numbers.keys() - record.passed, ["-j", "2", *options]
    for _ in range(2):
        if not todo:
            break
        found, parts, todo = run(build, [numbers[name] for name in todo], workers)
        results.update(found)
        for name in found:
            if found[name] == "Passed":
                record.add(name, parts.get(name, 0))
            elif found[name] != "Skipped" and name not in todo:
                record.add(name, "failed")
        workers = [*workers, "-j", "1"]

    done = {name: parts for name, parts in record.passed.items() if name in numbers}
    skipped = sum(result == "Skipped" for result in results.values())
    failed = sum(result not in ("Passed", "Skipped") for result in results.values())
    in_part = sum(parts > 0 for parts in done.values())
    left = len(numbers) - len(done) - skipped - failed
    seconds = time.time() - begin
    unstable = sorted(record.failed & done.keys())
    if unstable:
        print(f"GPU tests that have also failed: {' '.join(unstable)}")
    print(f"GPU tests: {len(done) - earlier} passed now in {seconds:.0f} s, {earlier} before")
    print(f"GPU tests: {len(done) - in_part} of {len(numbers)} passed, {in_part} in part ({sum(done.values())} parts skipped), "
          f"{skipped} skipped, {failed} failed{f', {left} not run: call again to continue' if left else ''}")
    return not (numbers and len(done) == len(numbers))


if __name__ == "__main__":
    sys.exit(main())
