#!/usr/bin/env python3
"""Makes data.salt, the equilibrated salt solution: 1,000 SPC/E waters and 18 NaCl in 31.26 A.

Builds a start on a grid (data.start), runs in.equilibrate with LAMMPS, and writes data.salt
sorted by atom ID. The environment variable LMP names LAMMPS [../../build/lmp]; it runs on 2
cores where there are 2.
"""
import argparse
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
BOX = 31.26
WATERS, PAIRS = 1000, 18
GRID = 11                       # 1,331 sites 2.84 A apart for 1,036 molecules and ions
ION_DISTANCE = 6.0              # ions start apart, each in its own shell of water
CONTACT = 1.5                   # no two atoms of different molecules start nearer than this
SEED = 20261121

CHARGE = {"O": -0.8476, "H": 0.4238, "Na": 1.0, "Cl": -1.0}
MASS = {"O": 15.9994, "H": 1.008, "Na": 22.98977, "Cl": 35.453}
TYPES = list(CHARGE)


def distances(points, others):
    d = points[:, None, :] - others[None, :, :]
    return np.linalg.norm(d - BOX * np.round(d / BOX), axis=-1)


def water_shape():
    half = np.radians(109.47) / 2
    return np.array([[0, 0, 0], [np.sin(half), 0, np.cos(half)], [-np.sin(half), 0, np.cos(half)]])


def random_rotation(rng):
    a, b, c, d = (q := rng.normal(size=4)) / np.linalg.norm(q)
    return np.array([[a*a + b*b - c*c - d*d, 2*(b*c - a*d), 2*(b*d + a*c)],
                     [2*(b*c + a*d), a*a - b*b + c*c - d*d, 2*(c*d - a*b)],
                     [2*(b*d - a*c), 2*(c*d + a*b), a*a - b*b - c*c + d*d]])


def build(rng):
    """Atoms as (molecule, type name, position)."""
    axis = (np.arange(GRID) + 0.5) * BOX / GRID
    sites = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    sites = sites[rng.permutation(len(sites))]

    ions = []
    for k, site in enumerate(sites):
        if not ions or distances(site[None], sites[ions]).min() > ION_DISTANCE:
            ions.append(k)
        if len(ions) == 2 * PAIRS:
            break
    else:
        raise SystemExit("make_data.py: no room for the ions - lower ION_DISTANCE")
    water_sites = np.delete(sites, ions, axis=0)[:WATERS]

    placed = np.concatenate([sites[ions], water_sites])     # all centers count as occupied
    molecules = []
    for site in water_sites:
        others = placed[np.any(placed != site, axis=1)]
        for _ in range(1000):
            water = site + water_shape() @ random_rotation(rng).T
            if distances(water[1:], others).min() > CONTACT:
                break
        else:
            raise SystemExit("make_data.py: no orientation without a close contact - try another "
                             "SEED")
        placed = np.concatenate([placed, water[1:]])
        molecules.append(list(zip(("O", "H", "H"), water)))
    for n, k in enumerate(ions):
        molecules.append([("Na" if n < PAIRS else "Cl", sites[k])])
    return [(m, name, x) for m, atoms in enumerate(molecules, 1) for name, x in atoms]


def write_data(path, title, atoms, velocities=None):
    """atoms: (molecule, type name, position), in the order of their IDs, waters first.

    Six decimals keep the file small; SHAKE removes the rounding of the bonds in the first step.
    """
    waters = sum(name == "O" for _, name, _ in atoms)
    bonds = [(3 * w + 1, 3 * w + h) for w in range(waters) for h in (2, 3)]
    with open(path, "w") as out:
        out.write(f"{title}\n\n{len(atoms)} atoms\n{len(bonds)} bonds\n{waters} angles\n"
                  f"{len(TYPES)} atom types\n1 bond types\n1 angle types\n\n")
        for d in "xyz":
            out.write(f"0.0 {BOX} {d}lo {d}hi\n")
        # types as numbers, because LAMMPS has no type labels with KOKKOS
        out.write("\nMasses\n\n"
                  + "".join(f"{k} {MASS[t]} # {t}\n" for k, t in enumerate(TYPES, 1)))
        out.write("\nAtoms # full\n\n")
        for k, (molecule, name, x) in enumerate(atoms, 1):
            out.write(f"{k} {molecule} {TYPES.index(name) + 1} {CHARGE[name]:g} "
                      + " ".join(f"{v:.6f}" for v in x % BOX) + "\n")
        if velocities is not None:
            out.write("\nVelocities\n\n")
            for k, v in enumerate(velocities, 1):
                out.write(f"{k} " + " ".join(f"{c:.7f}" for c in v) + "\n")
        out.write("\nBonds\n\n" + "".join(f"{k} 1 {i} {j}\n" for k, (i, j) in enumerate(bonds, 1)))
        out.write("\nAngles\n\n" + "".join(f"{w + 1} 1 {3 * w + 2} {3 * w + 1} {3 * w + 3}\n"
                                           for w in range(waters)))


def read_section(lines, name):
    """The rows of one section of a data file, as lists of words sorted by their ID."""
    start = next(k for k, line in enumerate(lines) if line.split("#")[0].strip() == name) + 2
    rows = []
    for line in lines[start:]:
        if not line.strip():
            break
        rows.append(line.split("#")[0].split())
    return sorted(rows, key=lambda row: int(row[0]))


# Open MPI refuses to start as root, as in a container, unless it is told twice; a rank that waits
# gives its core away.
MPI_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_mpi_yield_when_idle": "1"}


def lammps():
    name = os.environ.get("LMP", str(HERE / "../../build/lmp"))
    lmp = shutil.which(name)
    if not lmp:
        raise SystemExit(f"make_data.py: there is no {name}: run make first, or set LMP to a "
                         "LAMMPS")
    parallel = len(os.sched_getaffinity(0)) > 1 and shutil.which("mpirun")
    return (["mpirun", "-np", "2"] if parallel else []) + [os.path.abspath(lmp)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=70000, help="steps of 2 fs under NVT [70000]")
    parser.add_argument("--start-only", action="store_true", help="write data.start and stop")
    args = parser.parse_args()

    atoms = build(np.random.default_rng(SEED))
    write_data(HERE / "data.start", "SPC/E and NaCl on a grid, made by make_data.py", atoms)
    if args.start_only:
        return

    subprocess.run([*lammps(), "-in", "in.equilibrate", "-var", "steps", str(args.steps), "-log",
                    "log.equilibrate"],
                   cwd=HERE, check=True, stdin=subprocess.DEVNULL,
                   env={**os.environ, **MPI_ENVIRONMENT})

    result = HERE / "data.equilibrated"
    lines = result.read_text().splitlines()
    rows = read_section(lines, "Atoms")
    positions = np.array([[float(v) for v in row[4:7]] for row in rows])
    velocities = np.array([[float(v) for v in row[1:4]] for row in read_section(lines,
                                                                                "Velocities")])
    if [row[0] for row in rows] != [str(k) for k in range(1, len(atoms) + 1)]:
        raise SystemExit("make_data.py: atoms were lost in the equilibration")
    picoseconds = 10 + args.steps * 2e-3
    write_data(HERE / "data.salt",
               f"1000 SPC/E and 18 NaCl, {picoseconds:g} ps at 300 K, made by make_data.py (units "
               "real)",
               [(m, name, x) for (m, name, _), x in zip(atoms, positions)], velocities)
    result.unlink()


if __name__ == "__main__":
    main()
