"""Files of deposits and state files with random changes, each read by a process of its own: LAMMPS continues with all
deposits of the file, or says what is wrong and leaves the file as it is."""
# Without: gpu, kokkos

import glob
import os
import random
import re
import subprocess
import unittest

from coordtest import lmp_program, mpirun
from errortest import errors_in
from test_bias_hills import SUM, Folder, script
from test_bias_opes import ONE

COUNT = int(os.environ.get("GPUCOORD_TEST_MUTATIONS", "50"))    # of all kinds together
READ = ONE + " read_state S"
WALKERS = SUM + " walkers partitions"
PARTITION = ["-partition", "1x1"]
FILES = SUM + " walkers files S {} 10"
TIMEOUT = 60


def mutated(content, numbers):
    """Return a file with one or more random changes."""
    result = bytearray(content)
    for _ in range(numbers.choice((1, 1, 1, 2, 5))):
        at, length = numbers.randrange(len(result) + 1), numbers.choice((1, 1, 4, 40, 400))
        kind = numbers.randrange(7)
        if kind == 0:
            result[at:at + 1] = bytes([numbers.randrange(256)])
        elif kind == 1:
            del result[at:at + length]
        elif kind == 2:
            result[at:at] = result[numbers.randrange(len(result) + 1):][:length]
        elif kind == 3:
            del result[at:]    # a run that was killed, or a copy that ended early
        elif kind == 4:
            result[at:at + length] = bytes(len(result[at:at + length]))    # a file system after a crash
        elif kind == 5:
            result[at:at + 1] = numbers.choice((b"1e300", b"-", b"nan", b"e9", b" ", b"\n", b"0"))
        else:
            lines = bytes(result).split(b"\n")
            lines.insert(numbers.randrange(len(lines)), numbers.choice(lines))
            result = bytearray(b"\n".join(lines))
    return bytes(result)


def deposits(content):
    return [line for line in content.split(b"\n") if line.strip() and line.lstrip()[:1] != b"#"]


class Mutated(unittest.TestCase):
    def start(self, work, text, more=()):
        """Return the exit code and the log of a run."""
        process = work.start(text) if not more else None
        if more:
            arguments = work.put(text)
            process = subprocess.Popen([*mpirun(1), *lmp_program(1), "-in", "in.test", *arguments, *more], cwd=work.path,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            code = process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail("LAMMPS hangs")
        names = [work.at(f"log.{work.nruns}")] + ([work.at(f"log.{work.nruns}.0")] if more else [])
        log = ""
        for name in names:
            if os.path.exists(name):
                with open(name, errors="replace") as file:
                    log += file.read()
        return code, log

    def check(self, bias, name, count, restart=False, more=()):
        """Change the file of this name, and continue with it."""
        numbers = random.Random(f"{bias} {restart}")
        first = Folder()
        good_words = bias.replace(" read_state S", " write_state 50 S")
        code, log = self.start(first, script(good_words, "run 200", restart="restart 100 r"), more)
        self.assertEqual(code, 0, log[-2000:])
        good = first.read(name)
        accepted = 0
        words = bias + ("" if restart or name == "S" else " append yes")
        for k in range(count):
            changed = mutated(good, numbers) if k else good
            with self.subTest(bias, k=k, restart=restart):
                work = Folder()
                work.write(name, changed)
                if restart:
                    work.write("r", first.read("r.100"))
                code, log = self.start(work, script(words, "run 0", old="r" if restart else None), more)
                self.assertIn(code, (0, 1), log[-2000:])
                backups = [work.read(os.path.basename(path)) for path in glob.glob(work.at("bck.*"))]
                if code == 1:
                    self.assertRegex("\n".join(errors_in(log)), "Fix coord/bias b: ")
                    self.assertEqual(work.read(name), changed)
                    self.assertEqual(backups, [])
                    continue
                accepted += 1
                lines = deposits(changed)
                if name == "S":
                    # Z of the kernels is that of the file.
                    self.assertIn(f"continues with {len(lines)} kernels of state file S", log)
                    # Else it counts as a file of PLUMED, or of other kernels, which may have another Z.
                    if b"kernel smooth" in changed and "kernel_cutoff" not in log:
                        self.assertEqual(len(lines), len(deposits(good)))
                    continue
                # All lines but a damaged last one are in the file, or moved, and each counts once.
                found = deposits(work.read(name)) + [line for backup in backups for line in deposits(backup)]
                damaged = "removed the last line" in log
                self.assertIn(len(lines) - len(found), (0, 1) if damaged else (0,))
                self.assertEqual(found, lines[:len(found)])
                self.assertRegex(log, f"continues with {10 if restart else len(found)} (hills|kernels) of H")
        self.assertGreater(accepted, 0)
        print(f"{bias}: {count} files, {accepted} read")

    def test_file_of_another_walker(self):
        numbers = random.Random(4711)
        first = Folder()
        code, log = self.start(first, script(FILES.format("z"), "run 200"))
        self.assertEqual(code, 0, log[-2000:])
        good = first.read("S/z.w")
        accepted = 0
        count = max(COUNT // 5, 2)
        for k in range(count):
            changed = mutated(good, numbers) if k else good
            with self.subTest(k=k):
                work = Folder()
                os.mkdir(work.at("S"))
                work.write("S/z.w", changed)
                code, log = self.start(work, script(FILES.format("a"), "run 0"))
                self.assertEqual(work.read("S/z.w"), changed)
                self.assertEqual(code, 0, log[-2000:])
                found = [line.split()[1:-1] for line in deposits(work.read("H"))]
                if re.search("^WARNING: .*hills file S/z.w of walker z, .* - .*; new hills in it are left out until it can be read", log, re.M):
                    self.assertEqual(found, [])
                    continue
                accepted += 1
                # All complete lines, in their order. Bytes that are 0 may still come.
                lines = [line.split()[1:] for line in deposits(changed[:changed.rfind(b"\n") + 1].split(b"\0")[0].rpartition(b"\n")[0])]
                self.assertEqual([[float(word) for word in row] for row in found], [[float(word) for word in row] for row in lines])
        self.assertGreater(accepted, 0)
        print(f"{FILES}: {count} files, {accepted} read")

    def test_files(self):
        cases = ((SUM, "H", False, ()), (SUM, "H", True, ()), (ONE, "H", False, ()), (ONE, "H", True, ()), (READ, "S", False, ()),
                 (WALKERS, "H", False, PARTITION))
        for k, (bias, name, restart, more) in enumerate(cases):
            self.check(bias, name, COUNT * (k + 1) // len(cases) - COUNT * k // len(cases), restart, more)


if __name__ == "__main__":
    unittest.main()
