"""cmake/run-tests.sh and run-gpu-tests.sh count skipped tests, including skipped parts of scripts
that passed for ctest."""
# Without: gpu, kokkos

import os
import subprocess
import sys
import unittest
import unittest.mock

import coordtest

HERE = os.path.dirname(os.path.abspath(__file__))
COUNTER = os.path.join(HERE, os.pardir, os.pardir, os.pardir, "cmake", "run-tests.sh")
GPU_COUNTER = os.path.join(HERE, os.pardir, os.pardir, "run-gpu-tests.sh")

SCRIPT = """import sys, unittest
sys.path.insert(0, "{here}")
import coordtest
class Cases(unittest.TestCase):
    def test_good(self):
        pass
    def test_skipped(self):
        self.skipTest("no room")
    @coordtest.not_where(True, "LAMMPS has none")
    def test_lacks(self):
        self.fail()
    def test_part(self):
        coordtest.skip_part("one case", "no luck")
unittest.main(verbosity={verbosity})
"""


class Counts(unittest.TestCase):
    def run_tests(self, program, commands, *options):
        """Return exit status and lines of a program that runs tests, each a name and a shell
        command. All have the label gpu."""
        folder = os.path.join(coordtest.folder(), self.id())
        os.makedirs(os.path.join(folder, "unittest"), exist_ok=True)
        with open(os.path.join(folder, "CTestTestfile.cmake"), "w") as file:
            for name, command in commands.items():
                file.write(f'add_test("{name}" "sh" "-c" [[{command}]])\n'
                           f'set_tests_properties("{name}" PROPERTIES SKIP_RETURN_CODE 77 LABELS gpu)\n')
        finder = os.path.join(folder, "unittest", "find_gpu")
        with open(finder, "w") as file:
            file.write("#!/bin/sh\nexit 1\n")
        os.chmod(finder, 0o755)
        done = subprocess.run([program, folder, *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout.splitlines()

    def in_parts(self, verbosity):
        path = os.path.join(coordtest.folder(), f"cases{verbosity}.py")
        with open(path, "w") as file:
            file.write(SCRIPT.format(here=os.path.dirname(HERE), verbosity=verbosity))
        return f"'{sys.executable}' '{path}'"

    def test_all(self):
        status, lines = self.run_tests(COUNTER, {
            "good": "true", "lib/whole": "echo 'SKIPPED: no data'; exit 77", "one": self.in_parts(1), "two": self.in_parts(2),
            "bad": "echo 'SKIPPED: this: that'; exit 1"})
        self.assertNotEqual(status, 0)
        self.assertCountEqual([line for line in lines if line.startswith("Skipped ")], [
            "Skipped lib/whole: no data",
            *(f"Skipped {name}: {reason}" for name in ("one", "two") for reason in (
                "__main__.Cases.test_lacks: with KOKKOS: LAMMPS has none", "one case: no luck",
                "__main__.Cases.test_skipped: no room")),
            "Skipped bad: this: that"])
        self.assertEqual(lines[-1], "Tests: 1 of 5 passed, 2 in part (6 parts skipped), 1 skipped, 1 failed")

    def test_nothing_skipped(self):
        status, lines = self.run_tests(COUNTER, {"one": "true", "two": "true"}, "-R", "one")
        self.assertEqual((status, lines[-1]), (0, "Tests: 1 of 1 passed, 0 in part (0 parts skipped), 0 skipped, 0 failed"))

    def test_no_tests(self):
        status, _ = self.run_tests(COUNTER, {"one": "true"}, "-R", "none")
        self.assertNotEqual(status, 0)

    def test_an_end_in_the_middle(self):
        """ctest is killed after a first test that has passed, next to the log of an earlier run."""
        tests = {"gpu/1": "true", "gpu/2": "kill -9 $PPID", "gpu/3": "false"}
        self.run_tests(GPU_COUNTER, {"gpu/1": "true"})
        for program in COUNTER, GPU_COUNTER:
            status, _ = self.run_tests(program, tests)
            self.assertNotEqual(status, 0)

    def test_gpu(self):
        status, lines = self.run_tests(GPU_COUNTER, {"gpu/one": "true", "gpu/two": self.in_parts(2)})
        self.assertEqual((status, lines[-1]),
                         (0, "GPU tests: 1 of 2 passed, 1 in part (3 parts skipped), 0 skipped, 0 failed"))
        status, lines = self.run_tests(GPU_COUNTER, {"gpu/one": "true", "gpu/two": "echo 'SKIPPED: no GPU'; exit 77"})
        self.assertEqual((status, lines[-1]),
                         (1, "GPU tests: 1 of 2 passed, 0 in part (0 parts skipped), 1 skipped, 0 failed"))

    def test_gpu_in_slices(self):
        """A second call runs what has not passed, and all tests if one has changed."""
        folder = os.path.join(coordtest.folder(), self.id())
        flag = os.path.join(folder, "flag")
        tests = {"gpu/one": "true", "gpu/slow": f"test -e {flag} || sleep 60", "gpu/bad": f"test -e {flag}", "gpu/two": self.in_parts(1)}
        status, lines = self.run_tests(GPU_COUNTER, tests, "--seconds", "4", "-j", "4")
        self.assertEqual(status, 1)
        self.assertRegex(lines[-1], r"^GPU tests: 1 of 4 passed, 1 in part \(3 parts skipped\), 0 skipped, 2 failed$")
        with open(flag, "w"):
            pass
        status, lines = self.run_tests(GPU_COUNTER, tests)
        self.assertEqual((status, lines[-1]), (0, "GPU tests: 3 of 4 passed, 1 in part (3 parts skipped), 0 skipped, 0 failed"))
        self.assertEqual(sum("Start " in line for line in lines), 2)
        self.assertRegex(lines[-2], r"^GPU tests: 2 passed now in \d+ s, 2 before$")
        self.assertRegex(lines[-3], r"^GPU tests that have also failed: gpu/bad( gpu/slow)?$")
        now = os.environ.get("GPUCOORD_TEST_FRESH", "")
        for fresh, again in (now, 0), ("" if now else "1", 4):
            with unittest.mock.patch.dict(os.environ, GPUCOORD_TEST_FRESH=fresh):
                status, lines = self.run_tests(GPU_COUNTER, tests)
            self.assertEqual(status, 0)
            self.assertRegex(lines[-2], rf"^GPU tests: {again} passed now in \d+ s, {4 - again} before$")
        status, lines = self.run_tests(GPU_COUNTER, {**tests, "gpu/one": "false"})
        self.assertEqual((status, lines[-1]), (1, "GPU tests: 2 of 4 passed, 1 in part (3 parts skipped), 0 skipped, 1 failed"))

    def test_gpu_chosen(self):
        tests = {"gpu/three": "false", "gpu/one": "true", "gpu/two": "true"}
        for options in ("-R", "o"), ("-E", "three", "-j", "2"):
            status, lines = self.run_tests(GPU_COUNTER, tests, *options)
            self.assertEqual((status, lines[-1]), (0, "GPU tests: 2 of 2 passed, 0 in part (0 parts skipped), 0 skipped, 0 failed"))

    def test_gpu_that_is_busy(self):
        """A test that finds the GPU busy runs once more; one that fails otherwise does not."""
        folder = os.path.join(coordtest.folder(), self.id())
        busy = "echo cudaErrorDevicesUnavailable"
        tests = {"gpu/once": f"test -e {folder}/once || {{ touch {folder}/once; {busy}; exit 1; }}",
                 "gpu/always": f"echo run >>{folder}/always; {busy}; exit 1", "gpu/wrong": f"echo run >>{folder}/wrong; exit 1"}
        status, lines = self.run_tests(GPU_COUNTER, tests)
        self.assertEqual((status, lines[-1]), (1, "GPU tests: 1 of 3 passed, 0 in part (0 parts skipped), 0 skipped, 2 failed"))
        for name, times in ("always", 2), ("wrong", 1):
            with open(os.path.join(folder, name)) as file:
                self.assertEqual(len(file.readlines()), times, name)

    def test_some_functions(self):
        """A developer's build without some switching functions is not tested."""
        folder = os.path.join(coordtest.folder(), self.id())
        os.makedirs(folder, exist_ok=True)
        for forms, status in ("cubic rational", 1), ("", 0):
            with open(os.path.join(folder, "CMakeCache.txt"), "w") as file:
                file.write(f"GPUCOORD_FORMS:STRING={forms}\n")
            found, lines = self.run_tests(COUNTER, {"one": "true"})
            self.assertEqual(found, status)
            if forms:
                self.assertEqual(lines, [f"Error: {folder} has only the switching functions cubic rational (GPUCOORD_FORMS): "
                                         "build all of them to run the tests"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
