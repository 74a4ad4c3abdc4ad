"""LAMMPS=system: what cmake/lammps-system.sh accepts as the LAMMPS of the system, and its errors. The
folder of an installed LAMMPS is an imitation whose program prints the text of `lmp -h`."""
# Without: gpu, kokkos

import os
import re
import subprocess
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir))
SCRIPT = os.path.join(REPOSITORY, "cmake", "lammps-system.sh")
WAY_OUT = "Or leave LAMMPS=system out: make then fetches and builds LAMMPS. "
NEEDED = "GPUCOORD needs LAMMPS 4 Feb 2025 or newer, which Debian 13 has. "
HELP = """
Large-scale Atomic/Molecular Massively Parallel Simulator - {version}

Compiler: GNU C++ 14.2.0 with OpenMP 4.5
C++ standard: C++17

FFT precision  = double
FFT engine  = mpiFFT

-DLAMMPS_GZIP
-DLAMMPS_SMALLBIG

Installed packages:

ASPHERE KSPACE OPENMP

List of individual style options included in this LAMMPS executable
"""


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


class System(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        self.prefix = os.path.join(self.top, "usr")
        self.result = os.path.join(self.top, "build", "lammps.cmake")
        self.lmp = os.path.join(self.prefix, "bin", "lmp")

    def install(self, help_text=HELP.format(version="4 Feb 2025")):
        write(self.lmp, f"#!/bin/sh\ncat <<'END'\n{help_text}\nEND\n", 0o755)
        write(os.path.join(self.prefix, "include", "lammps", "library.h"), "// the library interface\n")
        write(os.path.join(self.prefix, "lib", "x86_64-linux-gnu", "liblammps.so"), "")

    def tree(self, version, library_h="// the library interface\n"):
        folder = os.path.join(self.top, "tree")
        write(os.path.join(folder, "src", "version.h"), f'#define LAMMPS_VERSION "{version}"\n')
        write(os.path.join(folder, "src", "library.h"), library_h)
        return folder

    def error(self, *arguments, **environment):
        """Return the message of the script, which must fail and leave no FILE."""
        known = ("LAMMPS_RELEASE", "LAMMPS_SOURCE_DIR", "LAMMPS_PACKAGES", "KOKKOS_SOURCE_DIR")
        clean = {name: value for name, value in os.environ.items() if name not in known}
        done = subprocess.run([SCRIPT, *(arguments or (self.result, self.prefix))], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**clean, "GPUCOORD_CACHE": os.path.join(self.top, "cache"), **environment})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertFalse(os.path.exists(self.result))
        return re.sub(r"\s+", " ", done.stdout)

    def test_nothing_installed(self):
        files = (self.lmp, os.path.join(self.prefix, "include", "lammps", "library.h"),
                 os.path.join(self.prefix, "lib", "x86_64-linux-gnu", "liblammps.so"))
        for file in files:
            with self.subTest(file):
                self.install()
                os.remove(file)
                named = file.replace("x86_64-linux-gnu/", "")
                self.assertEqual(self.error(), (
                    f"Error: LAMMPS=system needs Debian's packages lammps and liblammps-dev, and there is no {named}. Install "
                    "them by apt-get install lammps liblammps-dev on Debian 13 or newer. " + WAY_OUT))

    def test_older_release(self):
        self.install(HELP.format(version="29 Aug 2024 - Update 1"))
        self.assertEqual(self.error(), f"Error: {self.lmp} is LAMMPS 29 Aug 2024. {NEEDED}{WAY_OUT}")

    def test_release_without_known_source(self):
        self.install(HELP.format(version="10 Dec 2027"))
        self.assertEqual(self.error(), (
            f"Error: {self.lmp} is LAMMPS 10 Dec 2027, and make knows where to get the source of LAMMPS 4 Jul 2026, 4 Feb 2025. "
            "Give LAMMPS_SOURCE_DIR=FOLDER with the source of LAMMPS 10 Dec 2027. " + WAY_OUT))

    def test_source_of_another_release(self):
        self.install()
        tree = self.tree("4 Jul 2026")
        self.assertEqual(self.error(LAMMPS_SOURCE_DIR=tree), (
            f"Error: {self.lmp} is LAMMPS 4 Feb 2025, and LAMMPS_SOURCE_DIR is {tree}, LAMMPS 4 Jul 2026. Give the source of "
            "LAMMPS 4 Feb 2025, or leave LAMMPS_SOURCE_DIR empty to have it fetched. "))

    def test_other_headers(self):
        self.install()
        tree = self.tree("4 Feb 2025", "// another library interface\n")
        self.assertEqual(self.error(LAMMPS_SOURCE_DIR=tree), (
            f"Error: {self.prefix}/include/lammps/library.h differs from the one in {tree}/src, LAMMPS 4 Feb 2025. Give "
            "LAMMPS_SOURCE_DIR=FOLDER with the source that the installed LAMMPS was built from. " + WAY_OUT))

    def test_no_lammps(self):
        unknown = (f"Error: {self.lmp} -h prints no version, sizes of integers and C++ standard as LAMMPS does. Reinstall "
                   "Debian's package lammps. " + WAY_OUT)
        good = HELP.format(version="4 Feb 2025")
        for text in ("usage: lmp", HELP.format(version="develop"), good.replace("-DLAMMPS_SMALLBIG", ""),
                     good.replace("C++17", "")):
            with self.subTest(text):
                self.install(text)
                self.assertEqual(self.error(), unknown)
        write(self.lmp, "#!/bin/sh\nexit 1\n", 0o755)
        self.assertEqual(self.error(), f"Error: {self.lmp} -h failed. Reinstall Debian's package lammps. {WAY_OUT}")

    def test_variables_of_another_lammps(self):
        for name in ("LAMMPS_RELEASE", "LAMMPS_PACKAGES", "KOKKOS_SOURCE_DIR"):
            self.assertEqual(self.error(**{name: "any"}), (
                f"Error: {name} is any, and LAMMPS=system takes LAMMPS as the system has it. Leave out one of the two. "))

    def test_package(self):
        """The package that apt would install, with an imitation of apt-cache."""
        for candidate, message in (
                ("(none)", f"Error: LAMMPS=system needs the package liblammps-dev, and this system has none: apt's candidate is "
                 f"'(none)'. {NEEDED}{WAY_OUT}"),
                ("20220106.git7586adbb6a+ds1-2+b2", "Error: LAMMPS=system needs the package liblammps-dev, and that of this system "
                 f"is 20220106.git7586adbb6a+ds1-2+b2. {NEEDED}{WAY_OUT}")):
            write(os.path.join(self.top, "apt-cache"),
                  f"#!/bin/sh\necho 'liblammps-dev:'\necho '  Installed: (none)'\necho '  Candidate: {candidate}'\n", 0o755)
            self.assertEqual(self.error("--check-package", PATH=self.top + ":" + os.environ["PATH"]), message)

    def test_make_knows_no_other_value(self):
        done = subprocess.run(["make", "-C", REPOSITORY, "setup", "LAMMPS=debian"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("LAMMPS is 'debian': give system, or leave it empty to have LAMMPS built.", done.stdout)


class Installed(unittest.TestCase):
    """The LAMMPS of the test build in the place of one that the system has installed."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.prefix = os.path.join(folder.name, "usr")
        self.result = os.path.join(folder.name, "build", "lammps.cmake")
        self.build = os.path.join(folder.name, "build", "system-lammps")
        plugin_build = self.cache_of(os.environ["GPUCOORD_BUILD"])
        self.tree, self.lammps = plugin_build["LAMMPS_SOURCE_DIR"], plugin_build["LAMMPS_BUILD_DIR"]
        if "SYSTEM_LIBRARY" in self.cache_of(self.lammps):
            print(f"SKIPPED: {self._testMethodName}: the LAMMPS of this build is already the one of the system")
            self.skipTest("LAMMPS=system")
        for folder in ("bin", "lib", "include/lammps"):
            os.makedirs(os.path.join(self.prefix, folder))
        for name in ("liblammps.so", "liblammps.so.0"):
            os.symlink(os.path.join(self.lammps, name), os.path.join(self.prefix, "lib", name))
        os.symlink(os.path.join(self.tree, "src", "library.h"), os.path.join(self.prefix, "include", "lammps", "library.h"))

    @staticmethod
    def cache_of(build):
        with open(os.path.join(build, "CMakeCache.txt")) as file:
            return dict(re.match(r"([^:]+):\w+=(.*)", line).groups() for line in file if re.match(r"\w[^:]*:\w+=", line))

    def use(self):
        done = subprocess.run([SCRIPT, self.result, self.prefix], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, env={**os.environ, "LAMMPS_SOURCE_DIR": self.tree,
                                                                        "GPUCOORD_CACHE": os.path.dirname(self.prefix)})
        self.assertEqual(done.returncode, 0, done.stdout)
        with open(self.result) as file:
            self.assertEqual(re.findall(r"set\((\w+) \[\[(.*)\]\]", file.read()),
                             [("LAMMPS_SOURCE_DIR", self.tree), ("LAMMPS_BUILD_DIR", self.build)])

    def test_with_plugin(self):
        """LAMMPS is taken as it is, and the settings that its program prints are those that it was built with."""
        os.symlink(os.path.join(self.lammps, "lmp"), os.path.join(self.prefix, "bin", "lmp"))
        self.use()
        for name in ("lmp", "liblammps.so"):
            self.assertTrue(os.path.samefile(os.path.join(self.build, name), os.path.join(self.lammps, name)))
        found, expected = self.cache_of(self.build), self.cache_of(self.lammps)
        self.assertEqual(found["LAMMPS_SIZES"].lower(), expected["LAMMPS_SIZES"].lower())
        for name in ("BUILD_MPI", "BUILD_OMP", "PKG_OPENMP", "PKG_KSPACE", "PKG_PLUGIN", "FFT_SINGLE"):
            self.assertEqual(found[name].lower(), expected.get(name, "off").lower(), name)

    def test_without_plugin(self):
        """A program without the package gets a library that LAMMPS calls to load plugins."""
        write(os.path.join(self.prefix, "bin", "lmp"),
              f"#!/bin/sh\n'{self.lammps}/lmp' \"$@\" | sed 's/PLUGIN //'\n", 0o755)
        self.use()
        done = subprocess.run([os.path.join(self.build, "lmp"), "-log", "none"], input="plugin list\nclear\nplugin list\n",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={
                                  **os.environ, "LD_LIBRARY_PATH": "", "LAMMPS_PLUGIN_PATH": "", "LD_DEBUG": "bindings"})
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])
        bound = re.findall(r"binding file (\S+) \[0\] to (\S+) \[0\]: normal symbol `_ZN9LAMMPS_NS6LAMMPS11post_createEv'",
                           done.stdout)
        self.assertIn((os.path.join(self.prefix, "lib", "liblammps.so.0"), os.path.join(self.build, "liblammps_plugins.so")),
                      bound)


if __name__ == "__main__":
    unittest.main(verbosity=2)
