#!/usr/bin/env python3
"""Makes data.ion: one Na+ and 64 SPC/E waters in a box of 12.5 A, on a grid, minimized and
equilibrated by in.equilibrate. LMP names LAMMPS [../../build/lmp]."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE.parents[1] / "examples" / "coordination"))
import make_data

BOX, WATERS, GRID, SEED = 12.5, 64, 5, 20261201


def main():
    make_data.BOX, make_data.WATERS, make_data.PAIRS = BOX, WATERS, 1
    make_data.GRID, make_data.ION_DISTANCE, make_data.CONTACT = GRID, 5.0, 1.4
    atoms = make_data.build(np.random.default_rng(SEED))
    atoms = [atom for atom in atoms if atom[1] != "Cl"]
    make_data.write_data("data.start", "Na+ and 64 SPC/E on a grid, made by make_data.py", atoms)
    lmp = os.environ.get("LMP", str(HERE / "../../build/lmp"))
    subprocess.run([lmp, "-in", str(HERE / "in.equilibrate"), "-var", "here", str(HERE),
                    "-log", "log.equilibrate"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
