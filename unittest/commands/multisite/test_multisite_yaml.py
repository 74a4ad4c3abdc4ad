"""The reference files of pair_style multisite and fix multisite/linear for LAMMPS' testers, compared
with runs without these styles.

Forces, torques, energy and stress come from differences of the energies of multisitetest.Model,
which follow published formulas. LAMMPS integrates with those forces and torques through fix
external. A run for the fix projects torques and angular momenta on planes normal to the axes here.
"""
# Without: gpu, kokkos

import glob
import os
import shlex
import types
import unittest

import numpy as np

import coordtest
import multisitetest
from brutetest import Box
from coordtest import error_of
from multisitetest import Component, Model
from referencetest import INPUT, TESTS, numbers, read_reference

if not os.path.exists(os.path.join(INPUT, "in.ellipsoid")):
    coordtest.skip("this LAMMPS has no in.ellipsoid, the input of the reference files")

STEP = 1e-3    # displacement for differences
TOLERANCE = coordtest.rounded(1e-9)    # largest difference from the values in a file
STEPS = 4    # the testers run 4 steps, the one of fixes twice
TALLIES = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}


def lines_of(block):
    return [line.strip() for line in block.strip('" \n').splitlines()]


def components_of(commands):
    """Return the components that print commands write, by their names."""
    found = {}
    for command in commands:
        word, *values = shlex.split(command)[1].split()
        if word.startswith("#"):
            continue
        if word == "component":
            one = found[values[0]] = Component(values[0])
        elif word in ("mass", "inertia"):
            setattr(one, word, float(values[0]) if word == "mass" else [float(value) for value in values])
        else:
            values = [float(value) for value in values]
            rest = values[3:] if len(values) < 7 else [values[3:6], values[6]]
            one.sites[word].append((values[:3], *rest))
    return found


class Differences(Model):
    """Derivatives of energies of pairs. No pair of a reference is near a cutoff, where they jump."""

    def pair_energies(self, kinds, turn_i, turn_j, i, j, d):
        n = len(d)
        result = multisitetest.Energies(2 * n)
        turn, first, second = np.concatenate([turn_i, turn_j]), np.arange(n), n + np.arange(n)
        for a, b in {(a, b) for a, b in zip(kinds[i], kinds[j])}:
            use = (kinds[i] == a) & (kinds[j] == b)
            self.add_pairs(result, self.components[a], self.components[b], turn, first[use], second[use], d[use])
        return 2 * result.atoms[:n], result

    def evaluate(self, box, x, q, atom_types):
        """Return energies, forces, torques and virial. Each pair is counted once from either
        side."""
        kinds, turn = atom_types - 1, multisitetest.rotations(q)
        far = max(self.cutoff, self.cutoff_charge) + (2 * max(one.reach() for one in self.components) if self.site else 0.0)
        i, j, d = self.pairs(box, box.wrap(x), far)
        _, result = self.pair_energies(kinds, turn[i], turn[j], i, j, d)
        coulomb = result.es + result.rf + sum(self.self_energy(self.components[kind]) for kind in kinds)

        def derivative(axis, energy):
            values = [energy(h * np.eye(3)[axis]) for h in (-STEP, -STEP / 2, STEP / 2, STEP)]
            return (8 * (values[2] - values[1]) - (values[3] - values[0])) / (6 * STEP)

        def rotated(vector):
            return multisitetest.rotations([multisitetest.turned([1, 0, 0, 0], vector)])[0]

        pair_forces = -np.transpose([derivative(axis, lambda h: self.pair_energies(kinds, turn[i], turn[j], i, j, d + h)[0])
                                  for axis in range(3)])
        turning = -np.transpose([derivative(axis, lambda h: self.pair_energies(kinds, rotated(h) @ turn[i], turn[j], i, j, d)[0])
                                 for axis in range(3)])
        forces, torques = np.zeros((len(x), 3)), np.zeros((len(x), 3))
        np.add.at(forces, i, pair_forces)
        np.add.at(torques, i, turning)
        virial = [(d[:, a] * pair_forces[:, b]).sum() / 2 for a, b in TALLIES.values()]
        return types.SimpleNamespace(vdwl=result.lj, coul=coulomb, forces=forces, torques=torques, virial=virial)


def model_of_style(style, names, components, coefficients):
    """Return the model of a pair_style command and its pair_coeff commands."""
    words = style.split()
    value = lambda key, default: words[words.index(key) + 1] if key in words else default
    given = [float(word) for word in words[1:3] if word.replace(".", "").isdigit()]
    mixing = {}
    for line in coefficients:
        first, second, word, *factors = line.split()
        if word == "mix":
            mixing[names[int(first) - 1], names[int(second) - 1]] = tuple(map(float, factors))
    return Differences([components[name] for name in names], given[0], given[-1], site=value("cutoff", "center") == "site",
                  shift=value("shift", "no") == "yes", rf=float(value("rf", "1.0")), mixing=mixing)


class System:
    """LAMMPS without the pair style, with forces and torques of the model. project: torques and
    angular momenta of linear molecules have no component along the axis."""

    def __init__(self, test, reference, model, commands, project=False):
        self.model, self.project, self.found = model, project, None
        self.lmp = multisitetest.start("-var", "input_dir", INPUT)
        test.addCleanup(self.lmp.close)
        self.lmp.file(os.path.join(INPUT, reference["input_file"].strip()))
        for command in ["pair_coeff * *", *commands, *self.shapes(), "timestep " + reference.get("timestep", "0.001").strip(),
                        "compute q all property/atom quatw quati quatj quatk", "fix move all nve/asphere",
                        "fix ours all external pf/callback 1 1"]:
            self.lmp.command(command)
        lo, hi, xy, yz, xz, *_ = self.lmp.extract_box()
        self.box = Box(np.subtract(hi, lo), (xy, xz, yz), lo=lo, from_lammps=True)
        self.types = coordtest.in_order_of_id(self.lmp, self.lmp.numpy.extract_atom("type")).astype(int)
        self.lmp.set_fix_external_callback("ours", self.force)

    def shapes(self):
        """Yield what set_multisite does."""
        for kind, one in enumerate(self.model.components, 1):
            inertia = np.array(one.inertia)
            squares = 10 * (inertia.sum() - 2 * inertia) / one.mass    # squares of the diameters
            shape = np.sqrt(np.maximum(squares, 1e-6 * squares.max())) if squares.any() else np.ones(3)
            yield f"set type {kind} shape " + " ".join(repr(float(length)) for length in shape)
            yield f"set type {kind} mass {one.mass!r}"

    def quaternions(self):
        return coordtest.in_order_of_id(self.lmp, self.lmp.numpy.extract_compute("q", 1, 2))

    def without_axes(self, vectors, q):
        """Project vectors of linear molecules on the planes normal to their axes."""
        turn, projected = multisitetest.rotations(q), vectors.copy()
        for kind, one in enumerate(self.model.components, 1):
            if np.count_nonzero(one.inertia) == 2:
                mine = self.types == kind
                axes = turn[mine][:, :, one.inertia.index(0)]
                projected[mine] -= (projected[mine] * axes).sum(axis=1)[:, None] * axes
        return projected

    def force(self, _, step, nlocal, tag, x, f):
        order, q, positions = tag.ravel() - 1, self.quaternions(), np.empty((nlocal, 3))
        positions[order] = x
        self.found = self.model.evaluate(self.box, positions, q, self.types)
        if self.project:
            self.found.torques = self.without_axes(self.found.torques, q)
        f[:] = self.found.forces[order]
        self.lmp.numpy.extract_atom("torque")[:nlocal] = self.found.torques[order]

    def run(self, steps):
        """Angular momenta are projected at the end of each step."""
        self.lmp.command("run 0 post no")
        for step in range(steps + 1):
            if step:
                self.lmp.command("run 1 post no")
            if self.project:
                momenta = self.lmp.numpy.extract_atom("angmom")
                ids = self.lmp.numpy.extract_atom("id")[:len(self.types)] - 1
                momenta[:len(ids)] = self.without_axes(coordtest.in_order_of_id(self.lmp, momenta), self.quaternions())[ids]
        return self.found

    def gathered(self, name):
        return coordtest.in_order_of_id(self.lmp, self.lmp.numpy.extract_atom(name))


def vectors(text):
    return numbers(text).reshape(-1, 4)[:, 1:]


def references(pattern):
    paths = sorted(glob.glob(os.path.join(TESTS, pattern)))
    assert paths, f"there is no reference {pattern}"
    return [(os.path.basename(path), read_reference(path)) for path in paths]


class References(unittest.TestCase):
    def compare(self, name, errors):
        print(f"{name}: {', '.join(f'{key} {error:.1e}' for key, error in errors.items())}")
        self.assertLess(max(errors.values()), TOLERANCE, name)

    def test_pair(self):
        for name, reference in references("ellipsoid-pair-multisite*.yaml"):
            components = components_of(lines_of(reference["pre_commands"]))
            first, *others = lines_of(reference["pair_coeff"])
            model = model_of_style(reference["pair_style"], first.split()[3:], components, others)
            commands = [line for line in lines_of(reference["post_commands"]) if line != "set_multisite all"]
            errors = {}
            for when, steps in (("init", 0), ("run", STEPS)):
                system = System(self, reference, model, commands)
                found = system.run(steps)
                self.assertTrue(system.box.tilted or "tri" not in name)
                errors[f"{when}_forces"] = error_of(vectors(reference[f"{when}_forces"]), found.forces)
                for key, value in (("vdwl", [found.vdwl]), ("coul", [found.coul]), ("stress", found.virial)):
                    errors[f"{when}_{key}"] = error_of(numbers(reference[f"{when}_{key}"]), np.array(value))
            self.compare(name, errors)

    def test_linear(self):
        for name, reference in references("fix-timestep-multisite_linear*.yaml"):
            style, first, *commands = lines_of(reference["post_commands"])
            model = model_of_style(style.removeprefix("pair_style "), first.split()[4:],
                             components_of(lines_of(reference["pre_commands"])), [])
            commands = [line for line in commands if not line.startswith(("set_multisite", "fix "))]
            for project in True, False:
                system = System(self, reference, model, commands, project)
                torques = system.run(2 * STEPS).torques
                x = system.gathered("x") - vectors(reference["run_pos"])
                x -= np.round(x / np.diag(system.box.edges)) * np.diag(system.box.edges)
                errors = {"positions": np.abs(x).max(), "velocities": error_of(vectors(reference["run_vel"]), system.gathered("v")),
                          "torques": error_of(vectors(reference["run_torque"]), torques)}
                if project:
                    self.compare(name, errors)
                else:    # the fix has an effect
                    self.assertGreater(errors["torques"], 1e-3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
