"""compute coord/geometry against PLUMED: values, derivatives and virials, and metadynamics of two dihedrals."""

import unittest

import numpy as np

import coordtest
import geometrytest
import plumedtest
import test_bias_forces
from geometrytest import nearest
from test_bias_hills import Folder, hill_lines

VALUES, DERIVATIVES = 1e-10, 1e-8
IDS = {"ga": [4, 9, 21], "gb": [2, 17, 30, 12]}
# Item, and PLUMED's action on atoms and centers with the value.
ITEMS = {"distance 1 2": ("DISTANCE ATOMS=1,2", ""), "distance ga 3": ("DISTANCE ATOMS=ga,3", ""),
         "component x 4 ga": ("DISTANCE ATOMS=4,ga COMPONENTS", ".x"), "component y gb ga": ("DISTANCE ATOMS=gb,ga COMPONENTS", ".y"),
         "component z 6 5": ("DISTANCE ATOMS=6,5 COMPONENTS", ".z"), "angle 1 7 8": ("ANGLE ATOMS=1,7,8", ""),
         "angle ga 2 gb": ("ANGLE ATOMS=ga,2,gb", ""), "dihedral 9 10 11 13": ("TORSION ATOMS=9,10,11,13", ""),
         "dihedral 13 11 10 9": ("TORSION ATOMS=13,11,10,9", ""), "dihedral 14 ga 15 gb": ("TORSION ATOMS=14,ga,15,gb", "")}



def center(action, name, ids):
    return f"{name}: {action} ATOMS={','.join(map(str, ids))}\n"


class Items(unittest.TestCase):
    def test_values_and_derivatives(self):
        for name, box in test_bias_forces.BOXES.items():
            system = test_bias_forces.System(self, box)
            x = system.x()
            # PLUMED joins members in the order of their list. Members near the first one have the same images.
            groups = {}
            for group, ids in IDS.items():
                near = sorted(range(len(x)), key=lambda k: np.linalg.norm(nearest(box, x[k] - x[ids[0]])))[:len(ids)]
                coordtest.define_group(system.lmp, group, near)
                groups[group] = [min(near), *(k for k in near if k != min(near))]
            system.commands(f"compute t all coord/geometry {' '.join(ITEMS)} unwrap nearest", "run 0")
            values = np.ctypeslib.as_array(system.lmp.extract_compute("t", 0, 1), (len(ITEMS),)).copy()
            array = system.lmp.extract_compute("t", 0, 2)
            gradients = coordtest.atoms_of(system.lmp, "t")
            centers = "".join(center("CENTER", group, [k + 1 for k in members]) for group, members in groups.items())
            for k, (item, (action, value)) in enumerate(ITEMS.items()):
                s, derivatives, virial = plumedtest.derivatives_by_driver(f"{centers}c: {action}\n", "c" + value, x, box)
                mine = np.array([array[k][1 + c] for c in range(6)])
                # PLUMED has x_a dS/dx_b in row a. Only that of a component is not symmetric.
                theirs = np.array([virial[b, a] for a, b in coordtest.COMPONENTS])
                errors = (abs(values[k] - s) / max(1, abs(s)), coordtest.error_of(gradients[:, 3 * k:3 * k + 3], derivatives),
                          coordtest.error_of(mine, theirs))
                print("%s, %s: S %.1e, dS/dx %.1e, W %.1e" % (name, item, *errors))
                self.assertLess(errors[0], coordtest.rounded(VALUES), item)
                self.assertLess(max(errors[1:]), coordtest.rounded(DERIVATIVES), item)

    def test_centers_of_mass(self):
        """PLUMED gets the masses of LAMMPS."""
        for name in "orthogonal", "half":
            system = geometrytest.System(self, geometrytest.BOXES[name])
            actions = {"distance ga gb": "DISTANCE ATOMS=ga,gb", "angle ga 3 gb": "ANGLE ATOMS=ga,3,gb",
                       "dihedral alone ga 2 gb": "TORSION ATOMS=7,ga,2,gb"}
            given = plumedtest.Input("UNITS NATURAL\n" + "".join(center("COM", group, geometrytest.GROUPS[group]) for group in ("ga", "gb")) +
                                     "".join(f"v{k}: {action}\n" for k, action in enumerate(actions.values())) +
                                     "PRINT ARG=v0,v1,v2 FILE=colvar FMT=%.17g\n")
            system.commands(f"compute t all coord/geometry {' '.join(actions)}", f"fix p all coord/plumed {given.words}", "run 0")
            values = system.values()
            system.lmp.close()
            columns = given.columns("colvar")
            self.assertLess(coordtest.error_of(values, np.array([columns[f"v{k}"][0] for k in range(3)])), coordtest.rounded(VALUES))


if __name__ == "__main__":
    plumedtest.require()
    unittest.main(verbosity=2)
