"""compute coord/envsim compared with PLUMED's ENVIRONMENTSIMILARITY at equal cutoffs: built-in structures, PDB files, several
environments and functions; values, derivatives and virial in orthogonal and triclinic boxes."""

import math
import unittest

import numpy as np

import coordtest
import plumedtest
from brutetest import Box

TOLERANCE = 1e-8    # relative to the largest component
SIX_DIGITS = 1e-5
N = 80
BOXES = {"orthogonal": Box((5.0, 5.4, 5.6)), "triclinic": Box((5.2, 5.0, 5.6), tilt=(1.4, -1.3, 1.2))}
GHOSTS = 2.7    # PLUMED takes the nearest image of each pair, up to less than half of the boxes

# Vectors of PDB files.
HCP = 1.0, 1.6
CHIRAL = [(0.9, 0.1, 0.0), (0.0, 0.8, 0.2), (-0.1, 0.0, 0.7), (0.5, -0.6, 0.3)]
# As many vectors: PLUMED 2.11 divides by the number of those of the first environment.
OTHER = [(-0.9, 0.1, 0.0), (0.2, 0.8, 0.4), (0.3, 0.3, -0.8), (0.0, -0.5, 0.5)]
plumedtest.require()


def path_of(name):
    return f"{coordtest.folder()}/{name}"


def pdb(vectors):
    """Return the text of a PDB file."""
    return "".join(f"ATOM  {k + 1:5d}  C   XXX A   1    " + "".join(f"{x:8.3f}" for x in vector) + "  1.00  1.00\n"
                   for k, vector in enumerate(vectors)) + "END\n"


def write_files():
    a, c = HCP
    layer = [(a, 0), (-a, 0), *((x * a / 2, y * a * math.sqrt(3) / 2) for x in (1, -1) for y in (1, -1))]
    above = [(a / 2, a * math.sqrt(3) / 6), (-a / 2, a * math.sqrt(3) / 6), (0, -a * math.sqrt(3) / 3)]
    hcp = [[(sign * x, sign * y, 0) for x, y in layer] + [(sign * x, sign * y, z * c / 2) for x, y in above for z in (1, -1)]
           for sign in (1, -1)]
    vectors = "\n".join("".join(" ".join(f"{x:.6g}" for x in v) + "\n" for v in one) for one in hcp)
    for name, content in (("chiral.pdb", pdb(CHIRAL)), ("other.pdb", pdb(OTHER)), ("both.pdb", pdb(CHIRAL) + pdb(OTHER)),
                          ("hcp.vectors", vectors)):
        with open(path_of(name), "w") as file:
            file.write(content)


def structure(name, sigma, cutoff, constants):
    return (f"structure {name} {' '.join(map(repr, constants))} sigma {sigma} cutoff {cutoff}",
            f"CRYSTAL_STRUCTURE={name.upper()} LATTICE_CONSTANTS={','.join(map(repr, constants))} SIGMA={sigma} CUTOFF={cutoff}")


def custom(files, references, sigma, cutoff, more=""):
    """references: of PLUMED, or those of files."""
    numbers = [""] if len(references) == 1 else [f"_{k + 1}" for k in range(len(references))]
    words = " ".join(f"file {path_of(name)}" for name in files)
    lines = " ".join(f"REFERENCE{number}={path_of(name)}" for number, name in zip(numbers, references))
    return (f"{words} sigma {sigma} cutoff {cutoff} {more.lower().replace('=', ' ')}",
            f"CRYSTAL_STRUCTURE=CUSTOM {lines} SIGMA={sigma} CUTOFF={cutoff} {more}")


MEAN = "norm mean", "MEAN", "mean"
MORE = "function more_than rational 0.1 nn 6 mm 12", "MORE_THAN={RATIONAL R_0=0.1 NN=6 MM=12}", "morethan"


def cases():
    """Words of compute coord/envsim, and of PLUMED with the name of its value."""
    pairs = [structure("fcc", 0.2, 3, [1.4]), structure("fcc", 0.12, 8, [1.4]), structure("bcc", 0.2, 3, [1.15]),
             structure("sc", 0.2, 3.5, [1.0]), structure("diamond", 0.2, 4, [2.4])]
    # PLUMED prints vectors with 6 digits and reads them again.
    hcp = structure("hcp", 0.2, 3, HCP)
    pairs += [hcp, (f"file {path_of('hcp.vectors')} sigma 0.2 cutoff 3", hcp[1])]
    files = [custom(["chiral.pdb"], ["chiral.pdb"], 0.2, 4), custom(["chiral.pdb", "other.pdb"], ["chiral.pdb", "other.pdb"], 0.2, 4),
             custom(["both.pdb"], ["chiral.pdb", "other.pdb"], 0.25, 3, "LAMBDA=20")]
    return [(*pair, *kind) for pair in pairs + files for kind in (MEAN, MORE)]


class Environments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        write_files()

    def by_plumed(self, x, box, lines, name):
        """Return S, dS/dx and W."""
        separator = "_" if plumedtest.version() >= (2, 10) else "."
        return plumedtest.derivatives_by_driver(f"e: ENVIRONMENTSIMILARITY SPECIES=1-{N} {lines}\n", f"e{separator}{name}", x, box)

    def test_equal(self):
        for seed, (title, box) in enumerate(BOXES.items()):
            positions = coordtest.random_positions(np.random.default_rng(seed), box, N, closest=0.6)
            data = path_of(f"data.{title}")
            coordtest.write_data(data, positions, box, [1 + k % 2 for k in range(N)])
            lmp = coordtest.start()
            self.addCleanup(lmp.close)
            # Units with an Angstrom, for PDB files.
            for line in ("units metal", "atom_modify map array", "box tilt large", f"read_data {data}", "mass * 1.0",
                         "pair_style zero 1.0 nocoeff", "pair_coeff * *", "neighbor 0.3 bin", f"comm_modify cutoff {GHOSTS}"):
                lmp.command(line)
            computes = {}
            for words, lines, ours, theirs, name in cases():
                ident = f"c{len(computes)}"
                lmp.command(f"compute {ident} all coord/envsim {words} {ours} precision double")
                computes[ident] = words, f"{lines} {theirs}", name
            lmp.command("run 0")
            x = coordtest.in_order_of_id(lmp, lmp.numpy.extract_atom("x"))
            worst = 0.0
            for ident, (words, lines, name) in computes.items():
                with self.subTest(box=title, words=words, name=name):
                    value, gradients, virial = self.by_plumed(x, box, lines, name)
                    self.assertGreater(abs(value), 1e-3)
                    self.assertGreater(np.abs(gradients).max(), 1e-4)
                    w_of_plumed = np.array([virial[a, b] for a, b in coordtest.COMPONENTS])
                    errors = (abs(coordtest.scalar_of(lmp, ident) / value - 1),
                              coordtest.error_of(coordtest.atoms_of(lmp, ident)[:, 1:4], gradients),
                              coordtest.error_of(coordtest.virial_of(lmp, ident), w_of_plumed))
                    if not words.startswith("structure hcp"):
                        worst = max(worst, *errors)
                    self.assertLessEqual(max(errors), SIX_DIGITS if words.startswith("structure hcp") else TOLERANCE, f"S, dS/dx, W: {errors}")
            print(f"{title}: largest difference {worst:.1e}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
