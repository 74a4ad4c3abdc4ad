#!/usr/bin/env python3
"""Free energy F(S) from hills, kernels, grids, reweighted samples and umbrella windows.
Documentation: tools/free_energy/README.md"""

import contextlib
import os
import sys

try:
    import numpy    # noqa: F401
except ImportError as error:
    sys.exit("ERROR: free_energy.py needs the Python package numpy, which this Python "
             f"({sys.executable}) cannot import ({error}) - install numpy for it, or use another "
             "Python")

sys.dont_write_bytecode = True    # the folder of the tool may be shared, or part of a repository
from free_energy.command import main


class Output:
    """Standard output, which may end before the tool does, as in 'free_energy.py ... | head'. Files are
    then written nevertheless."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        self.call(self.stream.write, text)

    def flush(self):
        self.call(self.stream.flush)

    def call(self, work, *arguments):
        try:
            work(*arguments)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())


if __name__ == "__main__":
    with contextlib.redirect_stdout(Output(sys.stdout)) as output:
        try:
            code = main()
        finally:
            output.flush()
    sys.exit(code)
