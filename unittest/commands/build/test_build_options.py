"""GPUCOORD_LIBRARY, which takes the library of another build, and check-clang.py."""
# Without: gpu, kokkos

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
BUILD = os.environ["GPUCOORD_BUILD"]


def run(*command, **environment):
    """Return the exit code of a command, and its output without line breaks."""
    done = subprocess.run(command, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return done.returncode, re.sub(r"\s+", " ", done.stdout)


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name


class LibraryOfAnotherBuild(Folder):
    def configure(self, library):
        with open(os.path.join(BUILD, "CMakeCache.txt")) as file:
            cache = dict(re.findall(r"^([A-Za-z_]+):[A-Z]+=(.*)$", file.read(), re.MULTILINE))
        return run("cmake", "-S", REPOSITORY, "-B", self.top, "-G", "Ninja", "-D", "BUILD_TESTING=off", "-D", "GPUCOORD_CUDA=OFF",
                   *(f"-D{name}={cache[name]}" for name in ("LAMMPS_BUILD_DIR", "LAMMPS_SOURCE_DIR", "LAMMPS_BINARY")
                     if cache.get(name)), "-D", f"GPUCOORD_LIBRARY={library}")

    def test_is_used(self):
        """No source of the library is compiled. The styles know that it is shared, and the plugin has it."""
        library = os.path.join(BUILD, "plugin", "libgpucoord.so")
        code, text = self.configure(library)
        self.assertEqual(code, 0, text)
        with open(os.path.join(self.top, "compile_commands.json")) as file:
            commands = {os.path.relpath(entry["file"], REPOSITORY): entry["command"] for entry in json.load(file)}
        self.assertIn(" -DGPUCOORD_SHARED ", commands["src/GPUCOORD/bias_board.cpp"])
        self.assertEqual([name for name in commands if name.startswith("lib/gpucoord/src")], [])
        self.assertTrue(os.path.samefile(os.path.join(self.top, "plugin", "libgpucoord.so"), library))

    def test_is_not_of_a_build(self):
        copy = os.path.join(self.top, "libgpucoord.so")
        shutil.copy(os.path.join(BUILD, "plugin", "libgpucoord.so"), copy)
        for library in (os.path.join(self.top, "none.so"), copy):
            with self.subTest(library):
                code, text = self.configure(library)
                self.assertEqual(code, 1, text)
                self.assertIn(f"GPUCOORD_LIBRARY is '{library}', which is not plugin/libgpucoord.so of a build of these sources: "
                              "run make and give that of its build, or leave the option out", text)


class CheckClang(Folder):
    """GNU's compiler stands for clang."""
    SOURCE = os.path.join(REPOSITORY, "lib/gpucoord/src/core/box.cpp")

    def check(self, *entries, compiler="g++"):
        """entries: a source and further words of its command."""
        with open(os.path.join(self.top, "compile_commands.json"), "w") as file:
            json.dump([{"directory": self.top, "file": source,
                        "command": f"c++ -I{REPOSITORY}/lib/gpucoord/include {words} -o x.o -c {source}"}
                       for source, words in entries], file)
        return run(sys.executable, os.path.join(REPOSITORY, "cmake", "check-clang.py"), self.top, CLANGXX=compiler)

    def test_passes(self):
        self.assertEqual(self.check((self.SOURCE, "")), (0, "1 files compiled with g++: 0 failed "))

    def test_warning_is_an_error(self):
        header = os.path.join(self.top, "unused.h")
        with open(header, "w") as file:
            file.write("inline void f(int not_used) {}\n")
        code, text = self.check((self.SOURCE, f"-include {header}"))
        self.assertEqual(code, 1, text)
        self.assertIn("not_used", text)
        self.assertIn("1 files compiled with g++: 1 failed", text)

    def test_no_clang(self):
        self.assertEqual(self.check((self.SOURCE, ""), compiler="no-clang++"),
                         (1, "Error: there is no no-clang++: install clang, or name another one in CLANGXX "))

    def test_no_sources(self):
        self.assertEqual(self.check(("/other/source.cpp", "")),
                         (1, f"Error: {self.top}/compile_commands.json has no sources of {REPOSITORY} - run make first "))


if __name__ == "__main__":
    unittest.main()
