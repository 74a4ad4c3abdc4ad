"""The commands and messages in README.md and doc/install.md, and what the targets of the Makefile
install and build. No LAMMPS is built."""
# Without: gpu, kokkos

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
BUILD = os.environ["GPUCOORD_BUILD"]


def read(*names):
    with open(os.path.join(REPOSITORY, *names)) as file:
        return file.read()


def cached(name):
    with open(os.path.join(BUILD, "CMakeCache.txt")) as file:
        return re.search(f"^{name}:[A-Z]+=(.*)$", file.read(), re.MULTILINE)[1]


def run(*command, **environment):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env={**os.environ, **environment})


def blocks(text):
    return [block.replace("\\\n", " ") for block in re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]


class Commands(unittest.TestCase):
    def test_jobs(self):
        """A command without a number of jobs starts any number of compilers."""
        pages = [name for pattern in ("*.md", "doc/*.md", "doc/dev/**/*.md", "doc/src/*.rst", "bench/*.md", "examples/**/*.md",
                                      "tools/**/*.md", "cmake/upstream/*.rst")
                 for name in glob.glob(os.path.join(REPOSITORY, pattern), recursive=True)]
        bounded, unbounded = [], []
        for page in pages:
            for line in read(page).splitlines():
                for option in re.findall(r"(?:cmake --build|\bmake|\bninja) [^`]*?(?:-j|--parallel)\b *\d*", line):
                    (bounded if option[-1].isdigit() else unbounded).append((os.path.relpath(page, REPOSITORY), line))
        self.assertEqual(unbounded, [])
        self.assertGreater(len(bounded), 4)

    def test_packages(self):
        """The package commands enable what the inputs of examples use; make builds the same, without what
        an example asks for by LAMMPS_PACKAGES."""
        package_of, headers = {}, os.path.join(cached("LAMMPS_SOURCE_DIR"), "src", "*", "*.h")
        for header in glob.glob(headers):
            package = os.path.basename(os.path.dirname(header))
            with open(header, errors="replace") as file:
                for kind, name in re.findall(r"^ *(\w+)Style\(([^,\s]+),", file.read(), re.MULTILINE):
                    if package not in ("GPUCOORD", "KOKKOS"):
                        package_of[kind.lower(), name] = package
        used = set()
        for name in glob.glob(os.path.join(REPOSITORY, "examples", "**", "*"), recursive=True):
            if not os.path.basename(name).startswith(("in.", "forcefield.")) or not os.path.isfile(name):
                continue
            for line in read(name).splitlines():
                words = line.split()
                if not words:
                    continue
                if words[0].endswith("_style"):
                    keys = [(words[0][:-6], word) for word in words[1:]]
                elif words[0] in ("fix", "compute", "dump"):
                    keys = [(words[0], word) for word in words[3:4]]
                else:
                    keys = [("region", word) for word in words[2:3]] if words[0] == "region" else [("command", words[0])]
                used.update(package_of[key] for key in keys if key in package_of)
        self.assertGreaterEqual(used, {"KSPACE", "MOLECULE", "RIGID"})

        commands = [block for page in ("README.md", "doc/install.md") for block in blocks(read(page)) if "PKG_GPUCOORD=on" in block]
        self.assertEqual(len(commands), 4)
        for command in commands:
            self.assertEqual(set(re.findall(r"PKG_([A-Z-]+)=on", command)) - {"GPUCOORD", "KOKKOS"}, used, command)

        script = set(re.search(r"^packages=\((.*)\)$", read("cmake", "lammps-build.sh"), re.MULTILINE)[1].split())
        more = {name for page in glob.glob(os.path.join(REPOSITORY, "examples", "**", "README.md"), recursive=True)
                for found in re.findall(r"LAMMPS_PACKAGES='?([A-Z -]+)", read(page)) for name in found.split()}
        self.assertEqual(used - script, more)
        listed = re.search(r"LAMMPS is built with the packages ([A-Z\s-]+)\.", read("doc", "install.md"))[1].split()
        self.assertEqual((listed, set(listed)), (sorted(listed), script))

    def test_missing_plugin(self):
        """The pages quote what LAMMPS prints without the plugin."""
        text = read("doc", "install.md")
        quoted = re.findall(r"^ERROR: (Unrecognized (\w+) style '(\S+)')$", text, re.MULTILINE)
        self.assertEqual(len(quoted), 3)
        self.assertIn(f"`{quoted[0][0]}`", read("README.md"))
        lmp = os.path.join(cached("LAMMPS_BUILD_DIR"), "lmp")
        for message, kind, style in quoted:
            command = f"pair_style {style} 2.5" if kind == "pair" else f"{kind} a all {style}"
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "in.missing")
                with open(path, "w") as file:
                    file.write(f"region box block 0 1 0 1 0 1\ncreate_box 1 box\n{command}\n")
                done = run(lmp, "-in", path, "-log", "none", LAMMPS_PLUGIN_PATH="")
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stdout, rf"(?m)^ERROR: {re.escape(message)}( \(|$)")
        package = os.path.join(BUILD, "package", "lmp")
        if not os.path.exists(package):
            print("SKIPPED: plugin load without PLUGIN: LAMMPS with the package is not built; make test builds it")
            return
        quoted, = re.findall(r'"(Unknown command: plugin load)"', text)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "in.missing")
            with open(path, "w") as file:
                file.write("plugin load gpucoordplugin.so\n")
            done = run(package, "-in", path, "-log", "none", LD_LIBRARY_PATH=os.path.dirname(package), LAMMPS_PLUGIN_PATH="")
        self.assertIn(f"ERROR: {quoted}", done.stdout)


class Make(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        shutil.copy(os.path.join(REPOSITORY, "Makefile"), self.top)

    def commands(self, *goals, **environment):
        """Return what make would run."""
        clean = {name: "" for name in ("MAKEFLAGS", "LAMMPS", "PARTS", "GPUCOORD_CUDA", "GPUCOORD_CUDA_ARCHITECTURES")}
        done = run("make", "-n", "-C", self.top, *goals, **{**clean, **environment})
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def groups(self, text):
        return {word for words in re.findall(r"install-prerequisites\.sh (.*)", text) for word in words.split()}

    def test_users(self):
        """make, make demo and most parts of make bench neither configure nor build tests."""
        for goals, groups in (((), {"build"}), (("demo",), {"build", "python"}),
                              (("bench", "PARTS=kokkos maps-gpu"), {"build", "python"})):
            text = self.commands(*goals)
            self.assertEqual(self.groups(text), groups)
            self.assertIn("-D BUILD_TESTING=off", text)
            builds = re.findall("cmake --build .*", text)
            self.assertEqual([line for line in builds if "--target" not in line], [], goals)
            self.assertIn("--target gpucoordplugin", builds[0])

    def test_developers(self):
        """make test builds the tests, and make then keeps them in the build."""
        text = self.commands("test")
        self.assertEqual(self.groups(text), {"build", "python", "test"})
        self.assertIn("-D BUILD_TESTING=on", text)
        self.assertRegex(text, r"(?m)^cmake --build build -j \d+$")
        os.mkdir(os.path.join(self.top, "build"))
        with open(os.path.join(self.top, "build", "CMakeCache.txt"), "w"):
            pass
        self.assertNotIn("BUILD_TESTING", self.commands())

    def test_bench(self):
        """Parts accuracy-host and accuracy-gpu run tests, which make bench then builds before its programs."""
        parts = re.findall(r'^ *"([\w-]+)": Part\(.*"unittest/', read("bench", "run.py"), re.MULTILINE)
        self.assertEqual(parts, ["accuracy-host", "accuracy-gpu"])
        for words in [], ["PARTS=threads accuracy-host"], ["PARTS=accuracy-gpu"]:
            text = self.commands("bench", *words)
            self.assertEqual(self.groups(text), {"build", "python", "test"})
            self.assertIn("-D BUILD_TESTING=on", text)
            self.assertRegex(text, r"(?m)^cmake --build build -j \d+\ncmake --build build --target benchmarks$")

    def test_cuda(self):
        """make passes on what is given, and empty architectures of its command line clear those of the cache.
        The checks of a release build the CUDA backend on any machine."""
        def options(*words, **environment):
            text = self.commands(*words, **environment)
            line, *_ = re.findall(r"cmake -S \. -B build -G .*", text)
            return re.findall(r'-D "?GPUCOORD_(CUDA\w*=[^ "]*)', line)

        self.assertEqual(options("all"), [])
        self.assertEqual(options("all", GPUCOORD_CUDA="OFF"), ["CUDA=OFF"])
        self.assertEqual(options("all", GPUCOORD_CUDA_ARCHITECTURES="80;90"), ["CUDA_ARCHITECTURES=80;90"])
        self.assertEqual(options("all", "GPUCOORD_CUDA_ARCHITECTURES=90"), ["CUDA_ARCHITECTURES=90"])
        self.assertEqual(options("all", "GPUCOORD_CUDA_ARCHITECTURES="), ["CUDA_ARCHITECTURES="])
        for words, expected in ([], ["CUDA=ON"]), (["GPUCOORD_CUDA=OFF"], ["CUDA=OFF"]):
            self.assertEqual(options("release-check", *words), expected)

    def test_doc(self):
        """The documentation needs no build of LAMMPS."""
        text = self.commands("doc")
        self.assertEqual(self.groups(text), {"source", "doc"})
        self.assertNotRegex(text, r"lammps-(build|system)\.sh|cmake --build")
        self.assertIn("lammps-tree.sh", text)

    def test_lammps_tree(self):
        script = os.path.join(REPOSITORY, "cmake", "lammps-tree.sh")
        clean = {name: "" for name in ("LAMMPS_RELEASE", "LAMMPS_SOURCE_DIR", "LAMMPS_TARBALL")}
        result, tree = os.path.join(self.top, "lammps.cmake"), cached("LAMMPS_SOURCE_DIR")
        with open(result, "w") as file:
            file.write(f'set(LAMMPS_SOURCE_DIR [[{self.top}]] CACHE PATH "top folder of the LAMMPS source tree" FORCE)\n')
        self.assertEqual(run(script, result, **clean).stdout, f"{self.top}\n")
        cache = os.path.join(self.top, "cache")
        self.assertEqual(run(script, result, **{**clean, "LAMMPS_SOURCE_DIR": tree, "GPUCOORD_CACHE": cache}).stdout, f"{tree}\n")
        self.assertEqual(run(script, os.path.join(self.top, "none"), **{**clean, "LAMMPS_SOURCE_DIR": tree, "GPUCOORD_CACHE": cache})
                         .stdout, f"{tree}\n")

    def test_ci(self):
        """.ci/run asks for CUDA in every stage, also on a machine without a GPU. Without nvcc it fails first."""
        stub = '#!/bin/sh\necho "$GPUCOORD_CUDA $GPUCOORD_CUDA_ARCHITECTURES: $(basename "$0") $*" >>"$LOG"\n'
        for name in (".ci/run", "bin/make", "bin/cmake", "bin/nvcc", "cmake/install-prerequisites.sh", "build/lmp"):
            path = os.path.join(self.top, "clone", name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(read(".ci", "run") if name == ".ci/run" else stub)
            os.chmod(path, 0o755)
        top, log = os.path.join(self.top, "clone"), os.path.join(self.top, "log")
        self.assertEqual(run("git", "init", "-q", top).returncode, 0)
        with open(os.path.join(top, ".gitignore"), "w") as file:
            file.write("build/\n")
        done = run(os.path.join(top, ".ci", "run"), GPUCOORD_CUDA="", CUDACXX=os.path.join(top, "no-nvcc"), LOG=log)
        self.assertEqual((done.returncode, done.stdout), (1, "Error: there is no nvcc: run GPUCOORD_CUDA=OFF .ci/run\n"))
        for wanted, nvcc, expected in (("", "", "ON 75-virtual"), ("", os.path.join(top, "bin", "nvcc"), "ON 75-virtual"),
                                       ("OFF", os.path.join(top, "no-nvcc"), "OFF ")):
            if os.path.exists(log):
                os.remove(log)
            done = run(os.path.join(top, ".ci", "run"), PATH=os.path.join(top, "bin") + ":" + os.environ["PATH"], LOG=log,
                       GPUCOORD_CUDA=wanted, GPUCOORD_CUDA_ARCHITECTURES="", CUDACXX=nvcc)
            self.assertEqual(done.returncode, 0, done.stdout)
            with open(log) as file:
                calls = file.read().splitlines()
            self.assertEqual([call for call in calls if not call.startswith(f"{expected}: ")], [])
            goals = [call.split(": make ")[1].split()[0] for call in calls if ": make " in call]
            self.assertLess(goals.index("doc"), goals.index("setup"))
            self.assertLess(goals.index("setup"), goals.index("build-tests"))
            self.assertEqual(goals[-1], "test")
            self.assertIn(f"{expected}: cmake --build build --target lammps_with_package", calls)


class Kokkos(unittest.TestCase):
    def test_without_gpu(self):
        """A LAMMPS with KOKKOS for the GPUs of another machine is a package build, which a line says."""
        line = ("KOKKOS of this LAMMPS is for OpenMP alone, because there is no GPU here. For the GPUs of a cluster, build LAMMPS "
                "with the package: doc/install.md, section KOKKOS\n")
        self.assertIn("\n## KOKKOS\n", read("doc", "install.md"))
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("nvidia-smi", "#!/bin/sh\nexit 9\n"),
                               ("CMakeLists.txt", "set(Kokkos_VERSION_MAJOR 5)\nset(Kokkos_VERSION_MINOR 0)\nset(Kokkos_VERSION_PATCH 2)\n")):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(text)
            os.chmod(os.path.join(folder, "nvidia-smi"), 0o755)
            result = os.path.join(folder, "lammps.cmake")
            clean = {"PATH": folder + ":" + os.environ["PATH"], "KOKKOS_SOURCE_DIR": folder, "LAMMPS_RELEASE": "", "LAMMPS_TARBALL": "",
                     "LAMMPS_SOURCE_DIR": cached("LAMMPS_SOURCE_DIR"), "GPUCOORD_CACHE": os.path.join(folder, "cache"),
                     "LAMMPS_PACKAGES": "KOKKOS", "GPUCOORD_CUDA": "", "GPUCOORD_CUDA_ARCHITECTURES": ""}

            def printed(**environment):
                done = run(os.path.join(REPOSITORY, "cmake", "lammps-build.sh"), result, **{**clean, **environment})
                before, error = done.stdout.rsplit("Error: ", 1)
                self.assertEqual(error, "LAMMPS_PACKAGES has KOKKOS. Give KOKKOS_SOURCE_DIR instead.\n")    # ends before any build
                return before

            self.assertEqual(printed(), "")
            self.assertEqual(printed(GPUCOORD_CUDA_ARCHITECTURES="90"), line)
            self.assertEqual(printed(GPUCOORD_CUDA="ON"), line)
            self.assertEqual(printed(GPUCOORD_CUDA="OFF", GPUCOORD_CUDA_ARCHITECTURES="90"), "")
            with open(os.path.join(folder, "CMakeCache.txt"), "w") as file:
                file.write("GPUCOORD_CUDA:STRING=AUTO\nGPUCOORD_CUDA_ARCHITECTURES:STRING=90\n")
            self.assertEqual(printed(), line)
            self.assertEqual(printed(GPUCOORD_CUDA="OFF"), "")


class Prerequisites(unittest.TestCase):
    SCRIPT = os.path.join(REPOSITORY, "cmake", "install-prerequisites.sh")

    def installed_for(self, *groups):
        """Return the packages of an imitation of apt-get on a bare machine."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("apt-get", 'echo "apt-get $*"'), ("dpkg-query", "exit 1"), ("id", "echo 0")):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(f"#!/bin/sh\n{text}\n")
                os.chmod(os.path.join(folder, name), 0o755)
            done = run(self.SCRIPT, *groups, PATH=folder + ":" + os.environ["PATH"], LAMMPS="")
        self.assertEqual(done.returncode, 0, done.stdout)
        return set(re.search(r"^apt-get .*\binstall -y --no-install-recommends (.*)$", done.stdout, re.MULTILINE)[1].split())

    def test_groups(self):
        build = self.installed_for("build")
        self.assertEqual(build, {"cmake", "ca-certificates", "g++", "ninja-build", "libopenmpi-dev", "openmpi-bin"})
        test, doc = self.installed_for("test"), self.installed_for("source", "doc")
        self.assertLessEqual({"libgtest-dev", "libgmock-dev", "libyaml-dev"}, test)
        self.assertLessEqual({"cmake", "python3-sphinx", "libjs-mathjax"}, doc)
        self.assertNotIn("g++", doc)
        self.assertEqual(self.installed_for("build", "python", "test", "doc"), build | self.installed_for("python") | test | doc)

    def test_unknown_group(self):
        done = run(self.SCRIPT, "docs")
        self.assertEqual((done.returncode, done.stdout),
                         (1, "Error: 'docs' is no group of packages: give source, build, python, test, clang or doc\n"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
