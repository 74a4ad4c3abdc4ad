"""The package, copied into a LAMMPS tree, is configured with everything that the plugin has, and
can be uninstalled."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir))

with open(os.path.join(os.environ["GPUCOORD_BUILD"], "CMakeCache.txt")) as file:
    CACHE = dict(re.findall(r"^([A-Za-z_]+):[A-Z]+=(.*)$", file.read(), re.MULTILINE))


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


class Tree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree, cls.build = os.path.join(folder.name, "lammps"), os.path.join(folder.name, "build")
        # Links to the files of the LAMMPS tree, which stays unchanged.
        shutil.copytree(CACHE["LAMMPS_SOURCE_DIR"], cls.tree, copy_function=os.symlink,
                        ignore=shutil.ignore_patterns("bench", "examples", "potentials", "unittest", ".git"))
        source = os.path.join(cls.tree, "src", "GPUCOORD")
        for _ in range(2):    # a newer version over an older one that had another file
            done = run(os.path.join(REPOSITORY, "cmake", "copy-to-lammps.sh"), cls.tree)
            assert done.returncode == 0, done.stdout
            assert "removed.cpp" not in os.listdir(source)
            shutil.copy(os.path.join(source, "write_grid.cpp"), os.path.join(source, "removed.cpp"))
        os.remove(os.path.join(source, "removed.cpp"))

    def test_configure(self):
        done = run("cmake", "-S", os.path.join(self.tree, "cmake"), "-B", self.build, "-G", "Ninja", "-D", "PKG_GPUCOORD=on",
                   "-D", "PKG_KSPACE=on", "-D", "BUILD_MPI=on", "-D", "BUILD_OMP=off", "-D", "FFT=KISS",
                   "-D", "DOWNLOAD_POTENTIALS=off", "-D", "CMAKE_EXPORT_COMPILE_COMMANDS=ON",
                   "-D", "GPUCOORD_CUDA=" + CACHE["GPUCOORD_CUDA"],
                   "-D", "GPUCOORD_CUDA_ARCHITECTURES=" + CACHE["GPUCOORD_CUDA_ARCHITECTURES"],
                   env={**os.environ, "CUDACXX": CACHE.get("CMAKE_CUDA_COMPILER", "")})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"Enabled packages: .*\bGPUCOORD\b")
        with open(os.path.join(self.build, "compile_commands.json")) as file:
            commands = {os.path.basename(entry["file"]): entry["command"] for entry in json.load(file)}
        self.assertIn("-DGPUCOORD_KSPACE", commands["potential_far.cpp"])
        has_cuda = "GPUCOORD: CUDA backend" in done.stdout
        self.assertEqual(has_cuda, bool(CACHE.get("CMAKE_CUDA_COMPILER")), done.stdout)
        self.assertEqual("pair_kernels.cu" in commands, has_cuda)
        self.assertEqual("none.cpp" in commands, not has_cuda)
        self.assertEqual([name for name in commands if "gpucoord" in name and "plugin" in name], [])

    def test_legacy_build(self):
        """make yes-gpucoord is rejected with the way out; make no-gpucoord removes files that an
        older version may have left."""
        source = os.path.join(self.tree, "src")
        stale = os.path.join(source, "compute_coord_gpu.cpp")
        with open(stale, "w"):
            pass
        for mode in ("1", "2"):
            done = run("sh", "Install.sh", mode, cwd=os.path.join(source, "GPUCOORD"))
            self.assertEqual((done.returncode, done.stdout), (1, "The GPUCOORD package does not support the legacy build system. "
                                                                 "Please build LAMMPS with CMake instead.\n"))
        done = run("sh", "Install.sh", "0", cwd=os.path.join(source, "GPUCOORD"))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertFalse(os.path.exists(stale))

    def test_other_trees(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(os.path.join(REPOSITORY, "cmake", "copy-to-lammps.sh"), folder)
            self.assertEqual((done.returncode, done.stdout), (1, f"Error: {folder} is no LAMMPS source tree: it has no "
                                                                 "cmake/CMakeLists.txt\n"))
            os.mkdir(os.path.join(folder, "cmake"))
            with open(os.path.join(folder, "cmake", "CMakeLists.txt"), "w") as file:
                file.write("set(STANDARD_PACKAGES\n  GRAPHICS\n)\n")
            done = run(os.path.join(REPOSITORY, "cmake", "copy-to-lammps.sh"), folder)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stdout, "has other lists of packages than the supported LAMMPS releases: add GPUCOORD to STANDARD_PACKAGES "
                             r"and to foreach\(PKG_WITH_INCL ... KOKKOS ...\), and try again\n$")
            self.assertEqual(os.listdir(folder), ["cmake"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
