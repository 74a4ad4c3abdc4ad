#!/usr/bin/env python3
"""Free energy F(S) from hills, kernels, grids, reweighted samples and umbrella windows.
Documentation: tools/free_energy/README.md"""

import sys

try:
    import numpy    # noqa: F401
except ImportError as error:
    sys.exit("ERROR: free_energy.py needs the Python package numpy, which this Python "
             f"({sys.executable}) cannot import ({error}) - install numpy for it, or use another "
             "Python")

sys.dont_write_bytecode = True    # the folder of the tool may be shared, or part of a repository
from free_energy.command import main

if __name__ == "__main__":
    sys.exit(main())
