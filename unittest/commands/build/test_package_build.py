"""GPUCOORD as a package of a LAMMPS tree gives the same value as the plugin. make release-check also gives
the folder of a build with CUDA, in GPUCOORD_PACKAGE_WITH_CUDA."""
# Without: gpu, kokkos

import os
import re
import subprocess
import sys
import tempfile

INPUT = """
units lj
lattice fcc 0.8442
region box block 0 9 0 9 0 9
create_box 1 box
create_atoms 1 box
mass 1 1.0
displace_atoms all random 0.1 0.1 0.1 4711
pair_style zero 2.5
pair_coeff * *
comm_modify cutoff 7.2
compute c all coord/gpu switch rational 1.0 precision double
thermo_style custom step c_c
thermo_modify norm no
run 0
print "value $(c_c:%.17g)"
"""


def coordination(lmp, environment):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in.package")
        with open(path, "w") as file:
            file.write(INPUT)
        done = subprocess.run([lmp, "-in", path, "-log", "none"], cwd=folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r"^value (\S+)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not found:
        sys.exit(f"{lmp} failed:\n{done.stdout}\n{done.stderr}")
    return float(found.group(1))


def check(package):
    # No plugin may be loaded: the style must be in the library of this LAMMPS, next to its executable.
    environment = {key: value for key, value in os.environ.items() if key != "LAMMPS_PLUGIN_PATH"}
    environment["LD_LIBRARY_PATH"] = os.path.dirname(package)
    built_in = coordination(package, environment)
    plugin = coordination(os.environ["GPUCOORD_LMP"], os.environ)
    print(f"built in {built_in!r}, plugin {plugin!r}")
    assert plugin > 0.0, "the lattice has pairs within the switch, so the sum cannot be zero"
    assert abs(built_in - plugin) <= 1e-12 * abs(plugin), "package and plugin differ by more than 1e-12"

    packages = subprocess.run([package, "-h"], capture_output=True, text=True, env=environment).stdout
    assert re.search(r"\bGPUCOORD\b", packages), "lmp -h does not list the package GPUCOORD"


def main():
    package = os.path.join(os.environ["GPUCOORD_BUILD"], "package", "lmp")
    if not os.path.exists(package):
        print("SKIPPED: LAMMPS with the package is not built; make test or the target "
              "lammps_with_package builds it")
        sys.exit(77)
    check(package)
    with_cuda = os.environ.get("GPUCOORD_PACKAGE_WITH_CUDA")
    if with_cuda:
        check(os.path.join(with_cuda, "lmp"))
        with open(os.path.join(with_cuda, "configure.log")) as log:
            assert "GPUCOORD: CUDA backend by" in log.read(), f"{with_cuda} has no CUDA backend"


if __name__ == "__main__":
    main()
