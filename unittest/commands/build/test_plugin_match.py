"""A LAMMPS that a plugin was not compiled for rejects it, and the message gives the difference and
the way out."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from errortest import errors_in, run_program, run_script, start_all

BUILD = os.environ["GPUCOORD_BUILD"]
FOLDER = os.path.join(BUILD, "unittest", "mismatch")
PLUGIN = os.path.join(BUILD, "plugin")
OTHER_LAMMPS = os.environ.get("GPUCOORD_TEST_OTHER_LAMMPS", "")

MISMATCH = "The GPUCOORD plugin does not match this LAMMPS: "
USE_THAT = " - use that version, for example build/lmp, which make builds"
BUILD_AGAIN = (" - set LAMMPS_SOURCE_DIR and LAMMPS_BUILD_DIR to the source and the build folder of this LAMMPS and build "
               "GPUCOORD again")


def plugin(folder):
    return os.path.join(FOLDER, folder, "gpucoordplugin.so")


class Mismatch(unittest.TestCase):
    """Entry libraries that were compiled for another version, or with other sizes of integers, MPI
    or KOKKOS."""

    REASONS = {"version": r"it was compiled for LAMMPS version 20200101, but this is version 20\d{6}" + USE_THAT,
               "tagint": "it was compiled for 64-bit tagint, but this LAMMPS has 32-bit tagint" + BUILD_AGAIN,
               "mpi": r"it was compiled for an MPI library with 128-bit communicators \(as in Open MPI\), but this LAMMPS has "
                      r"(no MPI|an MPI library with \d\d-bit communicators \(as in (MPICH|Open MPI)\))" + BUILD_AGAIN,
               "kokkos": "it was compiled for KOKKOS with precision quadruple, but this LAMMPS has it with precision "
                         "(double|mixed|single)" + BUILD_AGAIN}
    if not os.path.exists(os.path.join(FOLDER, "kokkos")):    # this LAMMPS has no KOKKOS
        del REASONS["kokkos"]

    def check(self, folder, code, output):
        message, = errors_in(output)
        self.assertRegex(message, f"^{MISMATCH}{self.REASONS[folder]}$")
        self.assertNotEqual(code, 0)
        self.assertNotRegex(output, "(?m)^went on")

    def test_plugin_load(self):
        cases = [(folder, ranks) for folder in self.REASONS for ranks in (1, 2)]
        results = start_all(run_script, [(f"plugin load {plugin(folder)}\nprint 'went on'\n", ranks)
                                         for folder, ranks in cases])
        for (folder, ranks), result in zip(cases, results):
            with self.subTest(folder, ranks=ranks):
                self.check(folder, *result.result())

    def test_plugin_path(self):
        """In Python, since the executable of the environment may add the folder of the right
        plugin."""
        for folder in self.REASONS:
            with self.subTest(folder):
                program = [sys.executable, "-c", "from lammps import lammps\nlammps()\nprint('went on')"]
                self.check(folder, *run_program(program, 1, LAMMPS_PLUGIN_PATH=os.path.join(FOLDER, folder)))


class Libraries(unittest.TestCase):
    """Dependencies and exported symbols of the plugin's libraries, from readelf and nm."""

    @staticmethod
    def lines(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    def symbols(self, name, which):
        """Return names, each after the letter of its kind."""
        return [line[17:].strip() for line in self.lines("nm", "-D", "-C", which, os.path.join(PLUGIN, name))]

    def test_any_program_can_open_the_entry_library(self):
        needed = [re.search(r"\[(.*)\]", line)[1] for line in self.lines("readelf", "-d", os.path.join(PLUGIN, "gpucoordplugin.so"))
                  if "(NEEDED)" in line]
        for name in needed:
            self.assertRegex(name, r"^lib(stdc\+\+|gcc_s|c|m|dl)\.so")
        for symbol in self.symbols("gpucoordplugin.so", "--undefined-only"):
            self.assertNotRegex(symbol, "(?i)lammps|mpi_|gpucoord")
        self.assertEqual(self.symbols("gpucoordplugin.so", "--defined-only"), ["T lammpsplugin_init"])

    def test_the_library_shows_its_interface_alone(self):
        shown = self.symbols("libgpucoord.so", "--defined-only")
        self.assertTrue(any("make_host_coordination" in symbol for symbol in shown))
        for symbol in shown:
            self.assertRegex(symbol, r"^\w (vtable for |typeinfo for |typeinfo name for )?gpucoord::")
            self.assertNotRegex(symbol, "Lepton|cub::|thrust::")

    def load(self, folder, first=""):
        """Return exit code and output of `plugin load` in Python, after the plugins in the folder
        first."""
        program = (f"from lammps import lammps\nlmp = lammps()\nlmp.command('plugin load {folder}/gpucoordplugin.so')\n"
                   "lmp.command('plugin list')\nlmp.close()\nlmp.finalize()")
        return run_program([sys.executable, "-c", program], 1, LAMMPS_PLUGIN_PATH=first)

    def check_refused(self, reason, folder, first=""):
        code, output = self.load(folder, first)
        message, = errors_in(output)
        self.assertRegex(message, "^The styles of the GPUCOORD plugin cannot be opened: " + reason + "$")
        self.assertNotEqual(code, 0)
        self.assertNotIn("compute style plugin", output[output.index(message):])

    def test_libraries_belong_together(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(os.path.join(PLUGIN, "gpucoordplugin.so"), folder)
            self.check_refused("there is no .*/libgpucoord.so - keep gpucoordplugin.so, gpucoord_styles.so and libgpucoord.so in "
                               "one folder", folder)
            for name in ("gpucoord_styles.so", "libgpucoord.so"):
                with open(os.path.join(folder, name), "w") as file:
                    file.write("no library")
            self.check_refused(".*/libgpucoord.so: file too short - install what is missing, or build GPUCOORD again, with "
                               "the compiler of this LAMMPS", folder)
            for name in ("gpucoord_styles.so", "libgpucoord.so"):
                shutil.copy(os.path.join(PLUGIN, name), folder)
            code, output = self.load(folder)
            self.assertEqual(code, 0, output)
            self.assertRegex(output, "compute style plugin coord/gpu")
            self.check_refused(f"this program has loaded another build of GPUCOORD, {PLUGIN}/libgpucoord.so - load one of them only",
                               folder, first=PLUGIN)

    def test_the_library_beside_the_plugin_is_taken(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "libgpucoord.so"), "w") as file:
                file.write("no library")
            program = "from lammps import lammps\nlmp = lammps()\nlmp.command('plugin list')\nlmp.close()\nlmp.finalize()"
            code, output = run_program([sys.executable, "-c", program], 1, LAMMPS_PLUGIN_PATH=PLUGIN,
                                       LD_LIBRARY_PATH=folder + ":" + os.environ["LD_LIBRARY_PATH"])
            self.assertEqual(code, 0, output)
            self.assertRegex(output, "compute style plugin coord/gpu")

    def test_refused_without_output(self):
        """The reason is also on standard error: LAMMPS ends the program."""
        program = ("from lammps import lammps\nlmp = lammps(cmdargs=['-screen', 'none', '-log', 'none'])\n"
                   f"lmp.command('plugin load {plugin('version')}')")
        code, output = run_program([sys.executable, "-c", program], 1, LAMMPS_PLUGIN_PATH="")
        self.assertNotEqual(code, 0)
        self.assertRegex(output, f"(?m)^{MISMATCH}{Mismatch.REASONS['version']}$")


@unittest.skipUnless(os.path.isdir(OTHER_LAMMPS), "GPUCOORD_TEST_OTHER_LAMMPS is no folder; make test sets it")
class OtherRelease(unittest.TestCase):
    """In LAMMPS 22 Jul 2025, which is linked to MPICH."""

    def check(self, script, **environment):
        libraries = os.environ["GPUCOORD_TEST_OTHER_MPI"]
        # Exclude the libraries and the plugins of the LAMMPS that runs the tests.
        environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": libraries, "OMP_NUM_THREADS": "1", **environment}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.other")
            with open(path, "w") as file:
                file.write(script)
            done = subprocess.run([os.path.join(OTHER_LAMMPS, "lmp"), "-in", path, "-log", "none"], cwd=folder, env=environment,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
        self.assertIn("LAMMPS (22 Jul 2025", done.stdout, done.stderr)
        message, = errors_in(done.stdout)
        self.assertEqual(message, MISMATCH + "it was compiled for LAMMPS version 20260704, but this is version 20250722" + USE_THAT)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("went on", done.stdout)

    def test_plugin_load(self):
        self.check(f"plugin load {PLUGIN}/gpucoordplugin.so\nprint 'went on'\n")

    def test_plugin_path(self):
        self.check("print 'went on'\n", LAMMPS_PLUGIN_PATH=PLUGIN)


if __name__ == "__main__":
    unittest.main(verbosity=2)
