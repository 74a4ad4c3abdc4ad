"""The releases of LAMMPS that GPUCOORD accepts: cmake/lammps-releases.txt, read by CMake and by the
scripts of make."""
# Without: gpu, kokkos

import os
import re
import subprocess
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir, os.pardir))
MODULE = os.path.join(REPOSITORY, "cmake", "Modules", "LammpsVersion.cmake")
SCRIPT = os.path.join(REPOSITORY, "cmake", "lammps-release.sh")
TESTED = "4 Jul 2026, 4 Feb 2025"
OLDER, OLDEST, BETWEEN, NEWEST, NEWER = "29 Aug 2024", "4 Feb 2025", "22 Jul 2025", "4 Jul 2026", "10 Dec 2027"


def run(*command, **environment):
    """Return exit code and output, with single spaces: CMake breaks lines."""
    done = subprocess.run(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, re.sub(r"\s+", " ", done.stdout)


class Trees(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = folder.name

    def write(self, version):
        os.makedirs(os.path.join(self.tree, "src"), exist_ok=True)
        with open(os.path.join(self.tree, "src", "version.h"), "w") as file:
            file.write(f'#define LAMMPS_VERSION "{version}"\n#define LAMMPS_UPDATE "Update 1"\n')

    def too_old(self, advice="Give such a tree with -D LAMMPS_SOURCE_DIR=..., or run make, which fetches and builds LAMMPS."):
        return f"{self.tree} is LAMMPS {OLDER}, and GPUCOORD needs LAMMPS {OLDEST} or newer. {advice}"

    def untested(self, version):
        return f"{self.tree} is LAMMPS {version}. GPUCOORD is tested with LAMMPS {TESTED}. With other releases it may not compile, " \
               "and its tests have not been run: build the plugin and run them with ctest."


class CMake(Trees):
    def check(self):
        """Return exit code and output for the tree."""
        path = os.path.join(self.tree, "check.cmake")
        with open(path, "w") as file:
            file.write(f'cmake_minimum_required(VERSION 3.20)\ninclude("{MODULE}")\nlammps_check_version("{self.tree}" "Give another.")\n'
                       'message("found ${LAMMPS_NUMBER} = ${LAMMPS_VERSION}")\n')
        return run("cmake", "-P", path)

    def test_tested_releases(self):
        for version, number in ((NEWEST, 20260704), (OLDEST, 20250204)):
            self.write(version)
            self.assertEqual(self.check(), (0, f"found {number} = {version} "))

    def test_others_bring_a_warning(self):
        for version, number in ((BETWEEN, 20250722), (NEWER, 20271210)):
            self.write(version)
            code, output = self.check()
            self.assertEqual(code, 0, output)
            self.assertIn("CMake Warning", output)
            self.assertIn(self.untested(version), output)
            self.assertIn(f"found {number} = {version}", output)

    def test_older_ones_are_refused(self):
        self.write(OLDER)
        code, output = self.check()
        self.assertNotEqual(code, 0)
        self.assertIn(self.too_old("Give another."), output)

    def test_no_release(self):
        self.write("develop")
        code, output = self.check()
        self.assertNotEqual(code, 0)
        self.assertIn("has the version 'develop', which is not a date such as 4 Jul 2026. Give an unchanged LAMMPS tree.", output)

    def test_the_build_checks(self):
        for write, message in ((lambda: None, f"LAMMPS_SOURCE_DIR is '{self.tree}', which has no src/version.h."),
                               (lambda: self.write(OLDER), self.too_old())):
            write()
            code, output = run("cmake", "-S", REPOSITORY, "-B", os.path.join(self.tree, "build"), "-D", "GPUCOORD_CUDA=OFF",
                               "-D", f"LAMMPS_SOURCE_DIR={self.tree}")
            self.assertNotEqual(code, 0)
            self.assertIn(message, output)


class Package(Trees):
    """cmake/inject.cmake in a LAMMPS tree. The project of this tree builds nothing."""

    def check(self, version, *options):
        """Return exit code and output of CMake for a tree of this version."""
        self.write(version)
        os.makedirs(os.path.join(self.tree, "cmake"), exist_ok=True)
        with open(os.path.join(self.tree, "cmake", "CMakeLists.txt"), "w") as file:
            file.write('cmake_minimum_required(VERSION 3.20)\nproject(lammps LANGUAGES NONE)\nmessage("went on")\n')
        inject = os.path.join(REPOSITORY, "cmake", "inject.cmake")
        return run("cmake", "-S", os.path.join(self.tree, "cmake"), "-B", os.path.join(self.tree, "build"),
                   "-D", f"CMAKE_PROJECT_lammps_INCLUDE={inject}", "-D", "GPUCOORD_CUDA=OFF", *options)

    def test_tested_releases(self):
        for version in (NEWEST, OLDEST):
            code, output = self.check(version, "-D", "PKG_GPUCOORD=on")
            self.assertEqual(code, 0, output)
            self.assertIn("went on", output)
            self.assertNotIn("Warning", output)

    def test_others_bring_a_warning(self):
        for version in (BETWEEN, NEWER):
            code, output = self.check(version, "-D", "PKG_GPUCOORD=on")
            self.assertEqual(code, 0, output)
            self.assertIn("CMake Warning", output)
            self.assertIn(self.untested(version), output)
            self.assertIn("went on", output)

    def test_older_ones_are_refused(self):
        code, output = self.check(OLDER, "-D", "PKG_GPUCOORD=on")
        self.assertNotEqual(code, 0)
        self.assertIn(self.too_old("Give the folder cmake of such a tree with cmake -S."), output)
        self.assertNotIn("went on", output)

    def test_builds_without_the_package(self):
        code, output = self.check(OLDER)
        self.assertEqual(code, 0, output)
        self.assertNotIn("is LAMMPS", output)


class Make(Trees):
    """lammps-release.sh, which the scripts of make include."""

    def check(self, tree="", release=""):
        return run("bash", "-c", f'set -eu; . "{SCRIPT}"; echo "$LAMMPS_NUMBER = $LAMMPS_VERSION"', LAMMPS_SOURCE_DIR=tree,
                   LAMMPS_RELEASE=release)

    def test_release(self):
        self.assertEqual(self.check(), (0, f"20260704 = {NEWEST} "))
        self.assertEqual(self.check(release="20250204"), (0, f"20250204 = {OLDEST} "))
        self.assertEqual(self.check(release="2025"), (1, "Error: LAMMPS_RELEASE is 2025, and GPUCOORD supports 20260704, 20250204. "
                                                         "Give one of them. "))

    def test_tree(self):
        for version, number in ((OLDEST, 20250204), (BETWEEN, 20250722), (NEWER, 20271210)):
            self.write(version)
            self.assertEqual(self.check(self.tree), (0, f"{number} = {version} "))
        self.write(OLDER)
        self.assertEqual(self.check(self.tree), (
            1, f"Error: LAMMPS_SOURCE_DIR is {self.tree}, LAMMPS '{OLDER}', and GPUCOORD needs {OLDEST} or newer. Give such a "
            "tree, or leave LAMMPS_SOURCE_DIR empty to have one fetched. "))

    def test_no_tree(self):
        self.assertEqual(self.check(self.tree), (
            1, f"Error: LAMMPS_SOURCE_DIR is {self.tree}, which is not a LAMMPS source tree: it has no src/version.h. Give the top "
            "folder of a LAMMPS tree, or leave LAMMPS_SOURCE_DIR empty to have one fetched. "))


if __name__ == "__main__":
    unittest.main(verbosity=2)
