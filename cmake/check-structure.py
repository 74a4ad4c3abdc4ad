#!/usr/bin/env python3
"""Checks the layers of lib/gpucoord: each file includes only headers of allowed folders, each header
compiles alone, and no file names LAMMPS, MPI or Kokkos. Classes of variables and biases in src have a
limited size (class_sizes.py).

usage: check-structure.py LEPTON_INCLUDE   folder of Lepton.h, the expression parser
       check-structure.py --no-compiler    includes and names alone, in a second
Without nvcc, headers that only nvcc can compile (.cuh) are skipped, with a message.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import class_sizes

LIB = pathlib.Path(__file__).resolve().parent.parent / "lib/gpucoord"
# Folders of src/ that all subjects share, each with the folders that it may include.
SHARED = {
    "core": {"core"},
    "gpu": {"core", "gpu"},
    "expression": {"core", "gpu", "expression"},
    "switching": {"core", "gpu", "expression", "switching"},
    "atom_functions": {"core", "gpu", "expression", "switching", "atom_functions"},
    "pairs": {"core", "gpu", "expression", "switching", "atom_functions", "pairs"},
}
# Order parameters: folder in src/order/, name of the public header, style.
ORDERS = re.findall(r'^GPUCOORD_ORDER_PARAMETER\((\w+), (\w+), ([\w/]+),',
                    (LIB / "include/gpucoord/order_parameters.def").read_text(), re.MULTILINE)
# Public headers by the folder that implements them.
PUBLIC = {
    "core": {"archive", "box", "bytes_of", "counters", "device_value", "export", "member_variable", "option_error", "period", "printable",
             "resident_numbers", "side_stream", "types"},
    "switching": {"switch_functions", "switch_table", "switching"},
    "atom_functions": {"atom_function", "atom_functions", "resident_function", "smooth_region"},
    "pairs": {"contribution", "pair_pass", "pairs", "variable"},
    "coordination": {"coordination", "resident_coordination"},
    "bias": {"bias", "bias_warnings", "deposit_file", "device_terms", "grid_axis", "kernel_sum", "metadynamics",
             "resident_atoms", "resident_bias", "resident_forces", "restraint", "trim_file", "walkers"},
    "expression": {"expression", "resident_expression"},
    "geometry": {"geometry", "resident_geometry", "resident_shape", "shape"},
    "order": {"order_parameter", "order_parameters", "resident_order_parameter"},
    "multisite": {"resident_multisite", "multisite"},
    "potential_map": {"resident_map", "map_far", "potential_map"},
}
PUBLIC.update({f"order/{folder}": {name} for folder, name, _ in ORDERS})
FOREIGN = re.compile(r"lammps|\bmpi\b|mpi_|kokkos", re.IGNORECASE)


def folder_of(path):
    """Return the folder of src/ that a file belongs to."""
    relative = path.relative_to(LIB).parts
    if relative[0] == "src":
        return "order/" + relative[2] if relative[1] == "order" and len(relative) > 3 else relative[1]
    for folder, names in PUBLIC.items():
        if path.stem in names:
            return folder
    sys.exit(f"{path.name}: name its folder in PUBLIC of {__file__}")


def includes(path):
    for name in re.findall(r'#\s*include\s+"([^"]+)"', path.read_text()):
        found = LIB / "include" / name if name.startswith("gpucoord/") else (path.parent / name).resolve()
        if found.exists():
            yield found


def wrong_includes(files):
    """Yield includes of folders that are not allowed."""
    for path in files:
        here = folder_of(path)
        allowed = SHARED.get(here, set(SHARED) | {here})
        if here.startswith("order/"):
            allowed = allowed | {"order"}    # not another order parameter
        if here == "none":    # stubs of all subjects, which nothing includes
            allowed = allowed | set(PUBLIC)
        for other in includes(path):
            folder = folder_of(other)
            if folder not in allowed:
                yield f"{path.relative_to(LIB)} of {here} includes {other.relative_to(LIB)} of {folder}"


def wrong_orders():
    """Yield folders of order parameters that are not listed, and listed ones without a folder."""
    here = {folder.name for folder in (LIB / "src/order").iterdir() if folder.is_dir()}
    for folder in sorted(here ^ {folder for folder, _, _ in ORDERS}):
        yield f"{folder} is in only one of src/order/ and order_parameters.def"


def foreign_names(files):
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = FOREIGN.search(line)
            if found:
                yield f"{path.relative_to(LIB)}:{number} names {found[0]}"


def needs_cuda(header, seen):
    """Return whether a header includes one of the CUDA Toolkit, directly or indirectly."""
    if header in seen:
        return False
    seen.add(header)
    return bool(re.search(r"#\s*include\s+<(cuda|cub)", header.read_text())) or any(
        needs_cuda(other, seen) for other in includes(header))


def write_generated(folder):
    """The headers that CMake makes for lib/gpucoord (cmake/*.cmake) and that headers include."""
    listed = (LIB / "include/gpucoord/switch_functions.def").read_text()
    forms = re.findall(r"^GPUCOORD_\w+\((\w+), (\w+),", listed, re.MULTILINE)
    pathlib.Path(folder, "gpucoord_compiled_forms.def").write_text(
        "".join(f"GPUCOORD_COMPILED({form})\n" for _, form in forms) + "#undef GPUCOORD_COMPILED\n")
    pathlib.Path(folder, "gpucoord_switch_functions.h").write_text(
        "".join(f'#include "{LIB}/src/switching/functions/{kind.lower()}.h"\n' for kind, _ in forms))
    functions = re.findall(r"^GPUCOORD_ATOM_FUNCTION\((\w+)\)",
                           (LIB / "include/gpucoord/atom_functions.def").read_text(), re.MULTILINE)
    pathlib.Path(folder, "gpucoord_atom_functions.h").write_text(
        "".join(f'#include "{LIB}/src/atom_functions/kinds/{kind.lower()}.h"\n' for kind in functions))
    pathlib.Path(folder, "gpucoord_order_parameters.h").write_text(
        "".join(f'#include "gpucoord/{name}.h"\n' for _, name, _ in ORDERS))


def compile_alone(header, nvcc, folders):
    command = ["-std=c++17", f"-I{LIB / 'include'}", *(f"-I{folder}" for folder in folders)]
    if header.suffix == ".cuh":
        command = [nvcc, *command, "-x", "cu", "-arch=sm_90", "-c", "-o", os.devnull]
    else:
        command = [os.environ.get("CXX", "c++"), *command, "-x", "c++", "-fsyntax-only"]
        if nvcc:
            command.append(f"-I{pathlib.Path(nvcc).resolve().parent.parent / 'include'}")
    run = subprocess.run([*command, "-"] if header.suffix != ".cuh" else [*command, header], text=True,
                         input=f'#include "{header}"\n', capture_output=True, check=False)
    return None if run.returncode == 0 else f"{header.relative_to(LIB)} does not compile alone:\n{run.stderr[:2000]}"


def main():
    compiles = sys.argv[1:] != ["--no-compiler"]
    if compiles and (len(sys.argv) != 2 or not pathlib.Path(sys.argv[1], "Lepton.h").exists()):
        sys.exit(__doc__)
    nvcc = shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin")
    files = sorted(p for top in ("src", "include") for p in (LIB / top).rglob("*") if p.is_file())
    headers = [p for p in files if p.suffix in (".h", ".cuh")]
    sources = [p for p in files if p.suffix in (".cpp", ".cu")]
    wrong = [*wrong_includes(headers + sources), *wrong_orders(), *foreign_names(files), *class_sizes.wrong_sizes()]
    if not compiles:
        print("\n".join(wrong) or f"check-structure: {len(files)} files")
        return bool(wrong)
    alone = [p for p in headers if nvcc or not (p.suffix == ".cuh" or needs_cuda(p, set()))]
    if len(alone) < len(headers):
        print(f"check-structure: {len(headers) - len(alone)} headers for CUDA are not compiled, there is no nvcc")
    with tempfile.TemporaryDirectory() as generated, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        write_generated(generated)
        folders = sys.argv[1], generated
        wrong += filter(None, pool.map(lambda header: compile_alone(header, nvcc, folders), alone))
    print("\n".join(wrong) or f"check-structure: {len(files)} files, {len(alone)} headers compiled alone")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
