"""Which backend lib/gpucoord/cmake/GpucoordCuda.cmake chooses, in a small project with the library.
A program nvidia-smi imitates a machine with or without a GPU. No kernel is compiled."""
# Without: gpu, kokkos

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
PROJECT = f"""
cmake_minimum_required(VERSION 3.20)
project(choice LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
include({REPOSITORY}/lib/gpucoord/cmake/GpucoordCuda.cmake)
add_library(no_lepton INTERFACE)
set(GPUCOORD_LEPTON_TARGET no_lepton)
add_subdirectory({REPOSITORY}/lib/gpucoord gpucoord)
"""
NVCC = next((path for path in (os.environ.get("CUDACXX"), shutil.which("nvcc"), "/usr/local/cuda/bin/nvcc")
             if path and os.access(path, os.X_OK)), None)
HOST = "GPUCOORD: the host backend alone, "
NO_GPU = (HOST + "there is no GPU here. To build for the GPUs of a cluster, set GPUCOORD_CUDA_ARCHITECTURES, such as 90 for "
          r"H100 and H200. This needs nvcc, and about \d+ minutes more on two cores")
CUDA = f"GPUCOORD: CUDA backend by {NVCC} for "


class Choice(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = folder.name
        with open(os.path.join(self.top, "CMakeLists.txt"), "w") as file:
            file.write(PROJECT)
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("CUDACXX", "CUDAARCHS", "CUDA_VISIBLE_DEVICES")}
        self.environment["PATH"] = os.path.join(self.top, "bin") + ":" + os.environ["PATH"]
        if NVCC:
            self.environment["CUDACXX"] = NVCC

    def configure(self, capability, *options, build="build", code=0):
        """Return the lines of GPUCOORD, or the text of an error. capability: of the GPU, empty without one."""
        smi = os.path.join(self.top, "bin", "nvidia-smi")
        os.makedirs(os.path.dirname(smi), exist_ok=True)
        with open(smi, "w") as file:
            file.write(f"#!/bin/sh\necho {capability}\n" if capability else
                       "#!/bin/sh\necho 'NVIDIA-SMI has failed: 9.0'\nexit 9\n")
        os.chmod(smi, 0o755)
        self.build = os.path.join(self.top, build)
        done = subprocess.run(["cmake", "-S", self.top, "-B", self.build, "-G", "Ninja", *options], env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(done.returncode, code, done.stdout)
        self.output = re.sub(r"\s+", " ", done.stdout)
        if code:
            return self.output
        return "\n".join(re.findall("^-- (GPUCOORD: .* backend .*)$", done.stdout, re.MULTILINE))

    def check_backend(self, has_cuda):
        """The sources of the library, and the entry of the cache for scripts."""
        with open(os.path.join(self.build, "compile_commands.json")) as file:
            names = {os.path.basename(entry["file"]) for entry in json.load(file)}
        self.assertEqual(("pair_kernels.cu" in names, "no_cuda.cpp" in names), (has_cuda, not has_cuda))
        with open(os.path.join(self.build, "CMakeCache.txt")) as file:
            self.assertIn(f"GPUCOORD_CUDA_BACKEND:INTERNAL={'ON' if has_cuda else 'OFF'}\n", file.read())

    def test_without_gpu(self):
        """One line says how to build for a cluster, and nvcc is not even looked for."""
        self.assertRegex(self.configure(""), f"^{NO_GPU}$")
        self.check_backend(False)
        with open(os.path.join(self.build, "CMakeCache.txt")) as file:
            self.assertNotIn("CMAKE_CUDA_COMPILER", file.read())

    def test_without_nvcc(self):
        """A request for CUDA that cannot be met is an error, and AUTO on a machine with a GPU says why it builds without."""
        self.environment["CUDACXX"] = os.path.join(self.top, "no-nvcc")
        reason = f"{self.environment['CUDACXX']} does not run, or knows none of the GPUs here"
        self.assertEqual(self.configure("9.0"), HOST + reason)
        self.check_backend(False)
        for options, setting in ((["-D", "GPUCOORD_CUDA=ON"], "GPUCOORD_CUDA is ON and GPUCOORD_CUDA_ARCHITECTURES is ''"),
                                 (["-D", "GPUCOORD_CUDA_ARCHITECTURES=90"],
                                  "GPUCOORD_CUDA is AUTO and GPUCOORD_CUDA_ARCHITECTURES is '90'"),
                                 (["-D", "CMAKE_CUDA_ARCHITECTURES=90"],
                                  "CMAKE_CUDA_ARCHITECTURES, CUDAARCHS or Kokkos_ENABLE_CUDA asks for CUDA")):
            text = self.configure("", *options, build=setting[:20] + options[1][:9], code=1)
            self.assertIn(f"{setting}, but ", text)
            self.assertIn("; GPUCOORD_CUDA=OFF builds without CUDA", text)
        self.assertEqual(self.configure("", "-D", "GPUCOORD_CUDA_ARCHITECTURES=90", "-D", "GPUCOORD_CUDA=OFF"),
                         HOST + "GPUCOORD_CUDA is OFF")
        self.assertIn("GPUCOORD_CUDA_ARCHITECTURES 90 is ignored, because GPUCOORD_CUDA is OFF: give GPUCOORD_CUDA=AUTO", self.output)
        self.assertNotIn("is ignored", self.configure("", "-D", "GPUCOORD_CUDA_ARCHITECTURES=") + self.output)
        self.configure("", "-D", "GPUCOORD_CUDA_ARCHITECTURES=80;90")    # OFF is in the cache
        self.assertIn("GPUCOORD_CUDA_ARCHITECTURES 80;90 is ignored, because GPUCOORD_CUDA is OFF: give GPUCOORD_CUDA=AUTO", self.output)
        self.assertIn("GPUCOORD_CUDA is 'YEP': give AUTO, ON or OFF", self.configure("", "-D", "GPUCOORD_CUDA=YEP", code=1))

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_requests(self):
        """Without a GPU, each of these asks for CUDA; with one, AUTO does."""
        for name, capability, options, architectures in (
                ("gpu", "9.0", [], "90-real;90-virtual"), ("architecture", "", ["-D", "GPUCOORD_CUDA_ARCHITECTURES=80"], "80"),
                ("cmake", "", ["-D", "CMAKE_CUDA_ARCHITECTURES=80"], "80"), ("on", "", ["-D", "GPUCOORD_CUDA=ON"], r"\S*80-real;\S*"),
                ("kokkos", "", ["-D", "Kokkos_ENABLE_CUDA=on"], r"\S*80-real;\S*")):
            with self.subTest(name):
                # One folder, because CMake examines nvcc once in each.
                forget = ["-U", "GPUCOORD_CUDA*", "-U", "CMAKE_CUDA_ARCHITECTURES", "-U", "Kokkos_*"]
                self.assertRegex(self.configure(capability, *forget, *options), f"^{re.escape(CUDA)}{architectures}$")
                self.check_backend(True)

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_another_machine(self):
        """A machine without a GPU configures a build again that one with a GPU has configured."""
        for capability in "9.0", "":
            self.assertEqual(self.configure(capability), f"{CUDA}90-real;90-virtual")
            self.check_backend(True)
        self.assertEqual(self.configure("", "-D", "GPUCOORD_CUDA=OFF"), HOST + "GPUCOORD_CUDA is OFF")
        self.assertRegex(self.configure("", "-D", "GPUCOORD_CUDA=AUTO"), f"^{NO_GPU}$")

    @unittest.skipUnless(NVCC, "no nvcc")
    def test_switching(self):
        """In a configured build, the last setting counts."""
        for setting, found in (("ON", CUDA), ("OFF", HOST + "GPUCOORD_CUDA is OFF"), ("AUTO", NO_GPU), ("ON", CUDA), ("AUTO", NO_GPU)):
            with self.subTest(setting):
                self.assertRegex(self.configure("", "-D", f"GPUCOORD_CUDA={setting}"), f"^{found}")
                self.check_backend(found == CUDA)
        self.assertRegex(self.configure("", "-D", "GPUCOORD_CUDA_ARCHITECTURES=80"), f"^{CUDA}80$")
        self.assertRegex(self.configure(""), f"^{CUDA}80$")
        self.assertRegex(self.configure("", "-D", "GPUCOORD_CUDA_ARCHITECTURES="), f"^{NO_GPU}$")


if __name__ == "__main__":
    if not NVCC:
        print("SKIPPED: with CUDA: this machine has no nvcc")
    unittest.main(verbosity=2)
