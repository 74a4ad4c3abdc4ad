"""cmake/upstream.sh gives a LAMMPS tree the package with everything that the plugin has, in every
list of LAMMPS, and changes nothing in a tree of an unknown form."""
# Without: gpu, kokkos

import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir, os.pardir))

with open(os.path.join(os.environ["GPUCOORD_BUILD"], "CMakeCache.txt")) as file:
    CACHE = dict(re.findall(r"^([A-Za-z_]+):[A-Z]+=(.*)$", file.read(), re.MULTILINE))
LAMMPS = CACHE["LAMMPS_SOURCE_DIR"]
# The cache keeps CMAKE_CUDA_COMPILER when GPUCOORD_CUDA changes from ON to OFF.
HAS_CUDA = CACHE["GPUCOORD_CUDA_BACKEND"] == "ON"
UPSTREAM = os.path.join(REPOSITORY, "cmake", "upstream.sh")


def run(*command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def state(tree):
    """Return the contents of all files of a tree that are not links to LAMMPS' own."""
    files = {}
    for folder, _, names in os.walk(tree):
        for name in names:
            path = pathlib.Path(folder, name)
            files[path] = os.readlink(path) if path.is_symlink() else path.read_bytes()
    return files


class Tree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tree = os.path.join(folder.name, "lammps")
        # Links to the files of the LAMMPS tree, which stays unchanged.
        shutil.copytree(LAMMPS, cls.tree, copy_function=os.symlink,
                        ignore=shutil.ignore_patterns("bench", "examples", "potentials", "unittest", "tools", ".git", ".gitignore"))
        shutil.copytree(os.path.join(LAMMPS, "tools", "coding_standard"), os.path.join(cls.tree, "tools", "coding_standard"))
        source = os.path.join(cls.tree, "src", "GPUCOORD")
        for _ in range(2):    # a newer version over an older one that had another file
            done = run(UPSTREAM, cls.tree)
            assert done.returncode == 0, done.stdout
            assert "removed.cpp" not in os.listdir(source)
            shutil.copy(os.path.join(source, "write_grid.cpp"), os.path.join(source, "removed.cpp"))
        os.remove(os.path.join(source, "removed.cpp"))
        before = state(cls.tree)
        done = run(UPSTREAM, cls.tree)
        assert done.returncode == 0 and state(cls.tree) == before, "a second call changes the tree"

    def configured(self, tree, *arguments):
        """Return the compile commands of a build with the package, by file name."""
        with tempfile.TemporaryDirectory() as build:
            done = run("cmake", "-S", os.path.join(tree, "cmake"), "-B", build, "-G", "Ninja", *arguments, "-D", "PKG_GPUCOORD=on",
                       "-D", "PKG_KSPACE=on", "-D", "BUILD_MPI=on", "-D", "BUILD_OMP=off", "-D", "FFT=KISS",
                       "-D", "DOWNLOAD_POTENTIALS=off", "-D", "CMAKE_EXPORT_COMPILE_COMMANDS=ON",
                       "-D", "GPUCOORD_CUDA=" + ("ON" if HAS_CUDA else "OFF"),
                       "-D", "GPUCOORD_CUDA_ARCHITECTURES=" + CACHE["GPUCOORD_CUDA_ARCHITECTURES"],
                       env={**os.environ, **({"CUDACXX": CACHE["CMAKE_CUDA_COMPILER"]} if HAS_CUDA else {})})
            self.assertEqual(done.returncode, 0, done.stdout)
            self.assertRegex(done.stdout, r"Enabled packages: .*\bGPUCOORD\b")
            with open(os.path.join(build, "compile_commands.json")) as file:
                commands = {os.path.basename(entry["file"]): entry["command"] for entry in json.load(file)}
        self.assertEqual("GPUCOORD: CUDA backend" in done.stdout, HAS_CUDA, done.stdout)
        self.assertEqual("pair_kernels.cu" in commands, HAS_CUDA)
        self.assertEqual("no_cuda.cpp" in commands, not HAS_CUDA)
        return commands

    def test_configure(self):
        """The tree with the package, and LAMMPS' own with cmake/inject.cmake."""
        commands = self.configured(self.tree)
        self.assertIn("-DGPUCOORD_KSPACE", commands["potential_far.cpp"])
        self.assertEqual([name for name in commands if "gpucoord" in name and "plugin" in name], [])
        injected = self.configured(LAMMPS, "-D", f"CMAKE_PROJECT_lammps_INCLUDE={REPOSITORY}/cmake/inject.cmake")
        self.assertEqual(set(injected), set(commands))
        self.assertIn("-DGPUCOORD_KSPACE", injected["potential_far.cpp"])

    def test_legacy_build(self):
        """make yes-gpucoord is rejected with the way out; make no-gpucoord removes files that an
        older version may have left."""
        source = os.path.join(self.tree, "src")
        stale = os.path.join(source, "compute_coord_pair.cpp")
        with open(stale, "w"):
            pass
        for mode in ("1", "2"):
            done = run("sh", "Install.sh", mode, cwd=os.path.join(source, "GPUCOORD"))
            self.assertEqual((done.returncode, done.stdout), (1, "The GPUCOORD package does not support the legacy build system. "
                                                                 "Please build LAMMPS with CMake instead.\n"))
        done = run("sh", "Install.sh", "0", cwd=os.path.join(source, "GPUCOORD"))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertFalse(os.path.exists(stale))

    def test_kokkos_sources(self):
        """LAMMPS compiles the sources of styles in src/KOKKOS; GPUCOORD.cmake names the others."""
        source = pathlib.Path(REPOSITORY, "src")
        others = set()
        for path in source.glob("KOKKOS/*_kokkos.cpp"):
            header = path.with_suffix(".h")
            plain = source / "GPUCOORD" / header.name.replace("_kokkos", "")
            if not (plain.exists() and re.search("_CLASS$", plain.read_text(), re.MULTILINE)
                    and re.search("_CLASS$", header.read_text(), re.MULTILINE)):
                others.add(path.name.replace("_kokkos.cpp", ""))
        text = pathlib.Path(self.tree, "cmake", "Modules", "Packages", "GPUCOORD.cmake").read_text()
        named = re.search(r"foreach\(name (.*)\)\n +target_sources\(lammps PRIVATE \$\{LAMMPS_SOURCE_DIR\}/KOKKOS/\$\{name\}_kokkos.cpp\)", text)
        self.assertEqual(set(named.group(1).split()), others)

    def test_howto_index(self):
        """LAMMPS' index of Howto pages lists ours, once."""
        index = pathlib.Path(self.tree, "doc", "src", "Howto.rst").read_text().split()
        pages = [path.stem for path in pathlib.Path(REPOSITORY, "doc", "src").glob("Howto_*.rst")]
        self.assertEqual({page: index.count(page) for page in pages}, {"Howto_multisite": 1})

    def test_ignored_sources(self):
        """src/.gitignore is in the repository of LAMMPS, but not in its tarballs."""
        ignored = pathlib.Path(self.tree, "src", ".gitignore")
        try:
            ignored.write_text("/lmp_*\n\n/*_gpu.h\n/*_gpu.cpp\n")
            for _ in range(2):
                done = run(UPSTREAM, self.tree)
                self.assertEqual(done.returncode, 0, done.stdout)
            lines = ignored.read_text().splitlines()
        finally:
            ignored.unlink()
        self.assertEqual(lines[:5], ["/lmp_*", "", "/*_gpu.h", "/*_gpu.cpp", ""])
        added = [f"/{name}" for name in sorted(os.listdir(os.path.join(self.tree, "src", "GPUCOORD")))
                 if name.endswith((".cpp", ".h"))]
        self.assertEqual(lines[5:], added)

    def test_code_owners(self):
        """.github/CODEOWNERS is in the repository of LAMMPS, and in none of its tarballs. The last
        matching line of it counts."""
        owners = pathlib.Path(self.tree, ".github", "CODEOWNERS")
        text = ("# library folders\nlib/compress/*        @one\nlib/kokkos/*          @two\n\n# whole packages\n"
                "src/GPU/*             @one\nsrc/KOKKOS/*          @two\n\n# individual files in packages\n"
                "src/GPU/pair_vashishta_gpu.*        @one\n\n# core LAMMPS classes\nsrc/pair.*                @three\n")
        done = run(UPSTREAM, self.tree, "@first")
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no .github/CODEOWNERS", done.stdout)
        owners.parent.mkdir()
        try:
            owners.write_text(text)
            done = run(UPSTREAM, self.tree)
            self.assertEqual((done.returncode, done.stdout, owners.read_text()), (
                0, f"{owners} is unchanged: it needs GitHub accounts, which upstream.sh takes after the tree: @ACCOUNT...\n", text))
            done = run(UPSTREAM, self.tree, "@first", "second")
            self.assertEqual((done.returncode, done.stdout, owners.read_text()), (
                1, "Error: 'second' is no GitHub account with a leading @, such as @octocat. Nothing was changed.\n", text))
            for accounts in (["@first"], ["@first", "@second"], ["@first", "@second"]):
                done = run(UPSTREAM, self.tree, *accounts)
                self.assertEqual((done.returncode, done.stdout), (0, ""))
            lines = owners.read_text().splitlines()
        finally:
            shutil.rmtree(owners.parent)
        added = [line for line in lines if line not in text.splitlines()]
        self.assertEqual([line for line in lines if line not in added], text.splitlines())
        self.assertEqual(set(" ".join(line.split()[1:]) for line in added), {"@first @second"})

        def owners_of(name):
            return [line.split()[1:] for line in lines if line and fnmatch.fnmatchcase(name, line.split()[0])][-1]

        for path in state(self.tree):
            name = os.path.relpath(path, self.tree)
            if not path.is_symlink() and re.match("(src/(GPUCOORD|KOKKOS)|lib/gpucoord)/", name) and not name.endswith("Install.sh"):
                self.assertEqual(owners_of(name), ["@first", "@second"], name)
        self.assertEqual(owners_of("src/KOKKOS/pair_lj_cut_kokkos.cpp"), ["@two"])
        self.assertEqual(owners_of("src/GPU/pair_vashishta_gpu.cpp"), ["@one"])

    def test_style_checks(self):
        """LAMMPS' own checks of style pass, and find what breaks them."""
        check = [sys.executable, os.path.join(REPOSITORY, "cmake", "upstream", "check.py"), self.tree]
        done = run(*check)
        self.assertEqual((done.returncode, re.findall("^failed.*", done.stdout, re.MULTILINE)), (0, []), done.stdout)
        packages = "Packages_list.rst" if pathlib.Path(LAMMPS, "doc/src/Packages_list.rst").exists() else "Packages.rst"
        faults = [("src/GPUCOORD/pair_coord.cpp", r"\Z", "int wide;  \n", r"whitespace\n +\[Error\] Trailing whitespace @ .*pair_coord.cpp"),
                  ("src/KOKKOS/pair_coord_kokkos.cpp", "Contributing authors: .*", "",
                   "contributing authors\n +src/KOKKOS/pair_coord_kokkos.cpp: no line"),
                  (f"doc/src/{packages}", ":ref:`GPUCOORD ", ":ref:`GPU ", rf"check-packages\n +Package GPUCOORD missing in {packages}"),
                  ("doc/src/pair_multisite.rst", ".*index:: .*/kk\n", "", r"check-styles\n(.*\n)* +pair_style index entry multisite/kk is missing"),
                  ("doc/src/write_grid.rst", r"\Z", " \N{LATIN SMALL LETTER O WITH DIAERESIS}\n", r"characters and roles\n +doc/src/write_grid.rst:\d+:")]
        before = {}
        try:
            for name, old, new, _ in faults:
                before[name] = pathlib.Path(self.tree, name).read_text()
                pathlib.Path(self.tree, name).write_text(re.sub(old, new, before[name], count=1))
            done = run(*check)
        finally:
            for name, text in before.items():
                pathlib.Path(self.tree, name).write_text(text)
        self.assertEqual(done.returncode, 1)
        for *_, message in faults:
            self.assertRegex(done.stdout, f"failed  {message}")

    def test_parts(self):
        """doc/dev/upstream/README.md assigns each file of the package to a pull request, and names the
        sources that include a header of a later one."""
        text = pathlib.Path(REPOSITORY, "doc", "dev", "upstream", "README.md").read_text()
        patterns = re.findall(r"^\| (\d) [^|]+ \| `([^`]+)` \|$", text, re.MULTILINE)
        # NAME and PAGE of each order parameter in their list.
        orders = pathlib.Path(self.tree, "lib/gpucoord/include/gpucoord/order_parameters.def").read_text()
        for name, style in re.findall(r"^GPUCOORD_ORDER_PARAMETER\(\w+, (\w+), ([\w/]+),", orders, re.MULTILINE):
            patterns[:0] = [("3", f"lib/gpucoord/include/gpucoord/{name}.h"), ("3", f"doc/src/compute_{style.replace('/', '_')}.rst")]
        patterns = [(part, pattern) for part, pattern in patterns if "NAME" not in pattern and "PAGE" not in pattern]
        unused, left, part_of = set(patterns), [], {}
        for path in state(self.tree):
            name = os.path.relpath(path, self.tree)
            if path.is_symlink() or os.path.lexists(os.path.join(LAMMPS, name)) or name.startswith("tools/"):
                continue
            found = next(((part, pattern) for part, pattern in patterns if fnmatch.fnmatchcase(name, pattern)), None)
            if found:
                unused.discard(found)
                part_of[name] = found[0]
            else:
                left.append(name)
        self.assertEqual((left, unused), ([], set()))

        needed = {"1": "1", "2": "12", "3": "123", "4": "124", "5": "125"}
        headers = {name: part for name, part in part_of.items() if name.endswith((".h", ".cuh"))}
        early = set()
        for name, part in part_of.items():
            if not name.startswith(("src/", "lib/")):
                continue
            for included in re.findall(r'^#include "(?:\.\./)*([^"]+)"', pathlib.Path(self.tree, name).read_text(), re.MULTILINE):
                of = {other for header, other in headers.items() if f"/{header}".endswith(f"/{included}")}
                if any(other not in needed[part] for other in of):
                    early.add(name)
        self.assertEqual(early, set(re.findall(r"^\| `((?:src|lib)/[^`*]+)` \| [^`|]", text, re.MULTILINE)))

    def test_examples(self):
        """The README of the examples has a line for each folder with inputs, or for its parent."""
        examples = pathlib.Path(self.tree, "examples", "PACKAGES", "gpucoord")
        listed = re.findall(r"^(\S+)  +\S", (examples / "README").read_text(), re.MULTILINE)
        folders = {os.path.relpath(path.parent, examples) for path in examples.rglob("in.*")}
        self.assertEqual([name for name in listed if not (examples / name).is_dir()], [])
        self.assertEqual([name for name in folders if name not in listed and os.path.dirname(name) not in listed], [])

    def test_no_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(UPSTREAM, folder)
            self.assertEqual((done.returncode, done.stdout), (1, f"Error: {folder} is not a LAMMPS source tree: it has no "
                                                                 "cmake/CMakeLists.txt\n"))

    def test_releases(self):
        """An unsupported release is an error, and the tree stays as it is. Other releases that are not
        tested bring a warning."""
        header = pathlib.Path(self.tree, "src", "version.h")
        before = state(self.tree)
        link = os.readlink(header)
        for version, code, text in (
                ("29 Aug 2024", 1, f"Error: {self.tree} is LAMMPS 29 Aug 2024, and GPUCOORD needs LAMMPS 4 Feb 2025 or newer. "
                                   "Nothing was changed; give such a tree.\n"),
                ("22 Jul 2025", 0, f"Warning: {self.tree} is LAMMPS 22 Jul 2025. GPUCOORD is tested with LAMMPS 4 Jul 2026, "
                                   "4 Feb 2025. With other releases it may not compile, and its tests have not been run.\n"),
                ("4 Feb 2025", 0, "")):
            with self.subTest(version=version):
                header.unlink()
                try:
                    header.write_text(f'#define LAMMPS_VERSION "{version}"\n#define LAMMPS_UPDATE "Update 4"\n')
                    done = run(UPSTREAM, self.tree)
                finally:
                    header.unlink()
                    header.symlink_to(link)
                self.assertEqual((done.returncode, done.stdout), (code, text))
                self.assertEqual(state(self.tree), before)

    def test_other_lists(self):
        """A list in another form is an error that names it, and the tree stays as it is."""
        cases = [("src/version.h", r'"[^"]*"', '"develop"', r"src/version.h has no line 'LAMMPS_VERSION"),
                 ("cmake/CMakeLists.txt", r"^set\(STANDARD_PACKAGES$", "set(PACKAGES",
                  r"cmake/CMakeLists.txt has no line '\^set\\\(STANDARD_PACKAGES\$'"),
                 ("cmake/CMakeLists.txt", r"^foreach\(PKG_WITH_INCL CORESHELL.*$", "foreach(PKG_WITH_INCL CORESHELL)",
                  r"cmake/CMakeLists.txt has 0 lines '.*KOKKOS.*', expected one"),
                 ("doc/src/fix.rst", r"^\* :doc:`.* -", "* a fix -", r"doc/src/fix.rst has no line"),
                 ("doc/src/Commands_pair.rst", None, None, r"there is no doc/src/Commands_pair.rst")]
        for name, old, new, message in cases:
            with self.subTest(name=name, message=message), tempfile.TemporaryDirectory() as folder:
                tree = os.path.join(folder, "lammps")
                for part in ("cmake", "doc", "lib", "src/KOKKOS"):
                    shutil.copytree(os.path.join(LAMMPS, part), os.path.join(tree, part), copy_function=os.symlink,
                                    ignore=shutil.ignore_patterns("*.cpp", "*.h", "JPG", "PDF", "colvars", "gpu"))
                os.symlink(os.path.join(LAMMPS, "src", "version.h"), os.path.join(tree, "src", "version.h"))
                path = pathlib.Path(tree, name)
                text = path.read_text()
                path.unlink()
                if old:
                    path.write_text(re.sub(old, new, text, flags=re.MULTILINE))
                before = state(tree)
                done = run(UPSTREAM, tree)
                self.assertEqual(done.returncode, 1, done.stdout)
                self.assertRegex(done.stdout, f"^Error: {re.escape(tree)} has another form than the supported releases: {message}.*"
                                 r"\. Nothing was changed; adapt cmake/upstream/insert.py to this tree\.\n$")
                self.assertEqual(state(tree), before)


if __name__ == "__main__":
    unittest.main(verbosity=2)
