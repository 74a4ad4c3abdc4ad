"""Shared code of the tests of references for LAMMPS' own testers."""

import os
import re

import lammps
import numpy as np

TESTS = os.path.join(os.path.dirname(__file__), "../force-styles/tests")
INPUT = os.path.join(os.path.dirname(lammps.__file__), "../../unittest/force-styles/tests")


def read_reference(path):
    """Return blocks and values by their keys."""
    with open(path) as file:
        entries = re.findall(r"^(\w+):(.*\n(?:[ ].*\n)*)", file.read(), re.MULTILINE)
    return {key: re.sub(r"^ *\|[-\d]*\n", "", text) for key, text in entries}


def numbers(text):
    return np.array([float(word) for word in text.split()])
