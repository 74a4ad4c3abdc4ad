"""S, W, s_i and dS/dx of random systems, compared with sums over explicit periodic images.

Tests combine every box, every form of groups, every supporting engine and both meanings of image.
The reference is computed once for each form and image, so all engines are compared with the same
numbers.
"""

import itertools
import unittest

import numpy as np

import brutetest
import coordtest
from brutetest import Box, Switch, brute_force

TOLERANCE = coordtest.DOUBLE

ORTHOGONAL = (4.1, 5.3, 6.2)
# name: lengths, tilt, allowed combinations of periodic and fixed (a tilt needs a periodic second
# direction)
TILTED = {
    "half tilts": ((5.0, 5.5, 6.0), (2.3, -1.9, 1.7), [(1, 1, 1), (0, 1, 1)]),
    "strong tilts": ((4.0, 5.0, 6.0), (5.1, -7.3, 6.9), [(1, 1, 1), (0, 1, 1)]),
    "only xy": ((4.5, 5.0, 5.5), (3.9, 0, 0), [(1, 1, 0), (0, 1, 0), (1, 1, 1)]),
    "only xz": ((4.5, 5.0, 5.5), (0, -3.1, 0), [(1, 0, 1), (0, 0, 1), (0, 1, 1)]),
    "only yz": ((4.5, 5.0, 5.5), (0, 0, 2.6), [(1, 0, 1), (0, 1, 1)]),
}


def boxes():
    for k, periodic in enumerate(itertools.product((True, False), repeat=3)):
        name = "orthogonal " + "".join("p" if p else "f" for p in periodic)
        yield name, Box(ORTHOGONAL, periodic=periodic, lo=(-1.0 * k, 0.5 * k, 100.0 * k)), 40 + 7 * k
    for tilted, (lengths, tilt, mixes) in TILTED.items():
        for k, periodic in enumerate(mixes):
            name = tilted + " " + "".join("p" if p else "f" for p in periodic)
            yield name, Box(lengths, tilt, [bool(p) for p in periodic], lo=(0.3, -20.0, 1.0)), 35 + 10 * k


class Forms:
    """All ways to select pairs, for n atoms."""

    def __init__(self, rng, n):
        self.groups = {"left": np.arange(n // 3), "right": np.arange(n // 3, n - 3),
                       "even": np.arange(0, n, 2), "late": np.arange(n // 4, n)}
        # Overlapping groups whose k-th atoms by ID always differ.
        self.groups["front"], self.groups["shifted"] = np.arange(n // 2), np.arange(5, 5 + n // 2)
        few = rng.integers(0, n, (60, 2))
        self.pairs = few[few[:, 0] != few[:, 1]]    # some atoms are in many pairs, others in none
        self.file = coordtest.folder() + "/pairs"
        with open(self.file, "w") as out:
            out.write("# two atom IDs\n" + "".join(f"{i + 1} {j + 1}  # pair\n" for i, j in self.pairs))

    def each(self):
        """Yield name, keywords, first group and arguments of brute_force."""
        g = self.groups
        everything = np.arange(1 + max(m.max() for m in g.values()))
        yield "self", "all", "", {"a": everything}
        yield "self of some", "even", "", {"a": g["even"]}
        yield "two disjoint", "left", "group2 right", {"a": g["left"], "b": g["right"]}
        yield "two overlapping", "even", "group2 late", {"a": g["even"], "b": g["late"]}
        yield "a group with itself", "left", "group2 left", {"a": g["left"], "b": g["left"]}
        yield "two, mean", "left", "group2 late norm mean", {"a": g["left"], "b": g["late"], "norm": "mean"}
        yield "self, mean", "late", "norm mean", {"a": g["late"], "norm": "mean"}
        in_order = np.column_stack([g["front"], g["shifted"]])
        yield "pairs", "front", "pairs shifted", {"a": None, "pairs": in_order}
        yield "pairs, mean", "front", "pairs shifted norm mean", {"a": None, "pairs": in_order, "norm": "mean"}
        yield "pairs/file", "all", f"pairs/file {self.file}", {"a": None, "pairs": self.pairs}
        yield ("pairs/file, mean", "all", f"pairs/file {self.file} norm mean",
               {"a": None, "pairs": self.pairs, "norm": "mean"})


def ways(form, short):
    """Return the supported (engine keywords, meaning of image), with a range that is short or long
    for the box."""
    if form.startswith("pairs"):
        return [("image minimum", "minimum")] + ([("", "minimum")] if short else [])
    if short:
        listed = [("engine " + e, "minimum") for e in ("auto", "cells", "allpairs")]
        listed += [("engine cells image all", "all"), ("image all", "all"),
                   ("engine cells image minimum", "minimum"),
                   ("", "all")]
        return listed
    return [("image all", "all"), ("engine cells image all", "all"),
            ("image minimum", "minimum"), ("engine allpairs image minimum", "minimum")]


class BruteForce(unittest.TestCase):
    def check(self, name, box, n, seed, ranges):
        rng = np.random.default_rng(seed)
        x = coordtest.random_positions(rng, box, n)
        forms = Forms(rng, n)
        periodic = any(box.periodic)
        half = 0.5 * box.shortest_vector() if periodic else 2.0
        with coordtest.start() as lmp:
            longest = max(ranges) * half
            coordtest.make_system(lmp, box, x, ghosts=longest + 0.3 + 1e-9, skin=0.3)
            for group, members in forms.groups.items():
                coordtest.define_group(lmp, group, members)
            cases = []
            for factor in ranges:
                short = factor < 1 or not periodic
                switch = Switch("rational", 0.9, n=6, m=10, d0=0.2, dmax=factor * half)
                for form, group, keywords, arguments in forms.each():
                    references = {}
                    for way, image in ways(form, short):
                        if image not in references:
                            references[image] = brute_force(box, x, switch, image=image, **arguments)
                        ident = f"c{len(cases)}"
                        lmp.command(f"compute {ident} {group} coord/gpu {switch.keywords} {keywords} {way} "
                                    "precision double")
                        cases.append((ident, f"{name}, {form}, dmax {factor} of half, '{way}'", references[image]))
                    # If both references exist, they must agree.
                    if short and len(references) == 2:
                        coordtest.assert_same(references["all"], references["minimum"], TOLERANCE, "the references")
            lmp.command("run 0")
            for ident, what, expected in cases:
                coordtest.assert_same(brutetest.result_of(lmp, ident), expected, TOLERANCE, what)
            # In the long range some pairs must have more than one image. Otherwise the test checks
            # nothing.
            if periodic and max(ranges) > 1:
                values = {image: brute_force(box, x, switch, np.arange(n), image=image).value
                          for image in ("all", "minimum")}
                self.assertGreater(values["all"], values["minimum"] * 1.01)
        return len(cases)

    def test_boxes_groups_engines(self):
        total = 0
        for seed, (name, box, n) in enumerate(boxes()):
            total += self.check(name, box, n, seed, ranges=(0.93, 2.3))
        print(f"{total} comparisons of S, W, s_i and dS/dx")
        self.assertGreater(total, 1000)

    def test_sizes(self):
        """No atoms, one, two, and more than a block of 64 and a chunk of 256."""
        for n, range_factor in ((1, 0.9), (1, 2.5), (2, 0.9), (2, 3.3), (5, 0.9), (65, 0.5), (300, 0.9), (1100, 0.6)):
            box = Box((7.0, 6.0, 8.0))
            rng = np.random.default_rng(100 + n)
            x = coordtest.random_positions(rng, box, n)
            switch = Switch("rational", 1.1, dmax=3.0 * range_factor)
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, box, x, ghosts=float(switch.dmax) + 0.31)
                coordtest.define_group(lmp, "none", [])
                engines = ("cells", "allpairs") if range_factor < 1 else ("cells",)
                image = "" if range_factor < 1 else "image all"
                for engine in engines:
                    tail = f"{switch.keywords} engine {engine} {image} precision double"
                    lmp.command(f"compute {engine} all coord/gpu {tail}")
                    lmp.command(f"compute {engine}0 none coord/gpu norm mean {tail}")
                    lmp.command(f"compute {engine}2 all coord/gpu group2 none {tail}")
                lmp.command("run 0")
                expected = brute_force(box, x, switch, np.arange(n))
                for engine in engines:
                    what = f"{n} atoms, engine {engine}, dmax {float(switch.dmax)}"
                    coordtest.assert_same(brutetest.result_of(lmp, engine), expected, TOLERANCE, what)
                    for empty in ("0", "2"):
                        result = brutetest.result_of(lmp, engine + empty)
                        self.assertEqual((result.value, np.abs(result.virial).max(), np.abs(result.atoms).max()),
                                         (0, 0, 0), what + " with an empty group")

    def test_two_images_at_the_same_distance(self):
        """Atoms half a period apart, with dmax at this distance: image all has two pairs, image
        minimum one."""
        box = Box((10.0, 11.0, 12.0))
        x = np.array([[1.0, 2.0, 3.0], [6.0, 2.0, 3.0]])
        for image, pairs in (("minimum", 1), ("all", 2)):
            for engine in ("auto", "cells", "allpairs"):
                if (image, engine) == ("all", "allpairs"):
                    continue
                with self.subTest(image=image, engine=engine), coordtest.start() as lmp:
                    coordtest.make_system(lmp, box, x, ghosts=6.0, cutoff=3.0)
                    try:
                        lmp.command('compute c all coord/gpu switch custom 1.0 func "1" dmax 5.0 nostretch image '
                                    f"{image} engine {engine} precision double")
                        lmp.command("run 0")
                    except Exception as refusal:    # an engine may reject an unsupported case
                        self.assertRegex(str(refusal), "image")
                        self.assertNotEqual(engine, "auto")
                        continue
                    self.assertEqual(coordtest.scalar_of(lmp, "c"), pairs)
                    np.testing.assert_array_equal(coordtest.atoms_of(lmp, "c")[:, 0], [pairs, pairs])

    def test_bonded_atoms(self):
        """A coordination number counts bonded pairs, whatever special_bonds excludes from neighbor
        lists."""
        box = Box((6.0, 6.5, 7.0))
        n = 60
        rng = np.random.default_rng(17)
        x = coordtest.random_positions(rng, box, n)
        x[1::2] = x[::2] + 0.3 * rng.uniform(-1, 1, (n // 2, 3))
        x = box.wrap(x)
        switch = Switch("rational", 0.9, dmax=2.6)
        expected = brute_force(box, x, switch, np.arange(n))
        bonded = brute_force(box, x, switch, None, pairs=np.column_stack([np.arange(0, n, 2), np.arange(1, n, 2)]),
                             image="minimum").value
        self.assertGreater(bonded, 0.1 * expected.value)
        for weight in 0.0, 0.5:
            engines = ("cells", "allpairs")
            with coordtest.start() as lmp:
                for line in coordtest.setup_commands(box, 3.0):
                    line = line.replace("atom_style atomic", "atom_style bond")
                    if line.startswith("create_box"):
                        line += " bond/types 1 extra/bond/per/atom 1 extra/special/per/atom 2"
                    lmp.command(line)
                lmp.create_atoms(n, list(range(1, n + 1)), [1] * n, x.ravel().tolist())
                lmp.command("bond_style zero")
                lmp.command("bond_coeff *")
                lmp.command(f"special_bonds lj/coul {weight} {weight} {weight}")
                for k in range(1, n, 2):
                    lmp.command(f"create_bonds single/bond 1 {k} {k + 1} special {'yes' if k == n - 1 else 'no'}")
                for engine in engines:
                    lmp.command(f"compute {engine} all coord/gpu {switch.keywords} engine {engine} precision double")
                lmp.command("run 0")
                for engine in engines:
                    coordtest.assert_same(brutetest.result_of(lmp, engine), expected, TOLERANCE,
                                          f"special weight {weight}, engine {engine}")

    def test_neighbor_styles(self):
        """All neighbor styles of LAMMPS; a second run."""
        box = Box((7.0, 6.5, 6.0), tilt=(1.0, 2.0, -1.0))
        n = 80
        x = coordtest.random_positions(np.random.default_rng(18), box, n)
        switch = Switch("rational", 0.9, dmax=2.6)
        styles = ["nsq", "bin"]
        if not coordtest.kokkos_lacks("neighbor multi", coordtest.NO_MULTI):
            styles.append("multi")
        engines = ("cells", "allpairs")
        for style in styles:
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, box, x, ghosts=3.0)
                lmp.command(f"neighbor 0.3 {style}")
                for engine in engines:
                    lmp.command(f"compute {engine} all coord/gpu {switch.keywords} engine {engine} precision double")
                for turn in range(3):
                    y = x if turn < 2 else x[::-1].copy()
                    coordtest.move_to(lmp, y)
                    lmp.command("run 0")
                    expected = brute_force(box, y, switch, np.arange(n))
                    for engine in engines:
                        coordtest.assert_same(brutetest.result_of(lmp, engine), expected, TOLERANCE,
                                              f"neighbor {style}, engine {engine}, run {turn}")

    def test_two_dimensions(self):
        box = Box((6.0, 7.0, 1.0), tilt=(2.0, 0, 0))
        rng = np.random.default_rng(5)
        x = coordtest.random_positions(rng, box, 50)
        x[:, 2] = 0.0
        flat = Box((6.0, 7.0, 1.0), tilt=(2.0, 0, 0), periodic=(True, True, False))
        box.lo[2] = -0.5
        for factor, image in ((0.9, ""), (2.2, "image all"), (2.2, "image minimum")):
            switch = Switch("rational", 0.8, dmax=factor * 0.5 * flat.shortest_vector())
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, box, x, ghosts=float(switch.dmax) + 0.31, extra=["dimension 2"])
                lmp.command(f"compute c all coord/gpu {switch.keywords} {image} precision double")
                lmp.command("run 0")
                expected = brute_force(flat, x, switch, np.arange(50), image=image[6:] or "all")
                coordtest.assert_same(brutetest.result_of(lmp, "c"), expected, TOLERANCE, f"2d, {image}")
                self.assertEqual(np.abs(expected.atoms[:, 3]).max(), 0)

    def test_no_end(self):
        """Infinite ranges: the nearest image of every pair."""
        for box in (Box((4.0, 5.0, 6.0)), Box((4.0, 5.0, 6.0), (5.1, -7.3, 6.9)),
                    Box((4.0, 5.0, 6.0), periodic=(False,) * 3)):
            x = coordtest.random_positions(np.random.default_rng(8), box, 70)
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, box, x, ghosts=2.0)
                cases = []
                for switch in (Switch("rational", 1.5, dmax=np.inf), Switch("exp", 0.8, d0=0.3),
                               Switch("gaussian", 1.2), Switch("smap", 1.1, a=8, b=12)):
                    for form, group, keywords, arguments in (
                            ("self", "all", "", {"a": np.arange(70)}),
                            ("two", "all", "group2 some", {"a": np.arange(70), "b": np.arange(30, 50)})):
                        coordtest.define_group(lmp, "some", np.arange(30, 50))
                        cases.append((f"c{len(cases)}", switch, arguments))
                        lmp.command(f"compute {cases[-1][0]} {group} coord/gpu {switch.keywords} {keywords} "
                                    "image minimum precision double")
                lmp.command("run 0")
                for ident, switch, arguments in cases:
                    coordtest.assert_same(brutetest.result_of(lmp, ident),
                                          brute_force(box, x, switch, image="minimum", **arguments), TOLERANCE,
                                          f"{switch.keywords} in a box {box.edges.tolist()}")

    def test_ids_with_gaps_in_any_order(self):
        """Pair mode matches atoms by ID, whatever their order in memory."""
        box = Box((5.0, 5.0, 5.0))
        n = 40
        x = coordtest.random_positions(np.random.default_rng(3), box, n)
        ids = np.random.default_rng(0).permutation(5 * n)[:n] + 1
        switch = Switch("rational", 1.4, dmax=2.4)
        with coordtest.start() as lmp:
            for line in coordtest.setup_commands(box, 2.8):
                lmp.command(line)
            lmp.create_atoms(n, ids.tolist(), [1] * n, x.ravel().tolist())
            a, b = np.arange(15), np.arange(12, 27)    # three atoms are in both
            pairs = np.column_stack([members[np.argsort(ids[members])] for members in (a, b)])
            self.assertTrue((pairs[:, 0] != pairs[:, 1]).all(), "take other random IDs")
            for name, members in (("a", a), ("b", b)):
                lmp.command(f"group {name} id " + " ".join(str(i) for i in ids[members]))
            lmp.command(f"compute c a coord/gpu pairs b {switch.keywords} precision double")
            lmp.command("run 0")
            expected = brute_force(box, x, switch, None, pairs=pairs, image="minimum")
            tags = lmp.numpy.extract_atom("id")[:n]
            found = lmp.numpy.extract_compute("c", 1, 2)[:n]
            index = {tag: k for k, tag in enumerate(ids)}
            atoms = np.empty((n, 4))
            for tag, row in zip(tags, found):
                atoms[index[tag]] = row
            result = brutetest.Result(coordtest.scalar_of(lmp, "c"), coordtest.virial_of(lmp, "c"), atoms)
            self.assertGreater(result.value, 0.001)
            coordtest.assert_same(result, expected, TOLERANCE, "pairs by ID")

    def test_coincident_atoms(self):
        """Two atoms at one position: s = 1 without a direction, and zero derivative, for a function
        that is flat at 0."""
        box = Box((6.0, 6.0, 6.0))
        x = coordtest.on_grid([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [1.5, 2.2, 2.9]])
        with coordtest.start() as lmp:
            coordtest.make_system(lmp, box, x, ghosts=3.0)
            for engine in ("cells", "allpairs"):
                lmp.command(f"compute {engine} all coord/gpu switch rational 1.0 dmax 2.0 engine {engine} "
                            "precision double")
            lmp.command("run 0")
            near = Switch("rational", 1.0, dmax=2.0)
            r = np.linalg.norm(x[2] - x[0])
            s, dsdr = (float(v[0]) for v in near(np.array([r])))
            for engine in ("cells", "allpairs"):
                result = brutetest.result_of(lmp, engine)
                self.assertAlmostEqual(result.value, 1 + 2 * s, delta=1e-13)
                np.testing.assert_allclose(result.atoms[0, 1:], -dsdr / r * (x[2] - x[0]), rtol=1e-12, atol=1e-15)


class SwitchKinds(unittest.TestCase):
    def test_every_kind(self):
        box = Box((7.0, 6.5, 7.5), (1.5, -2.0, 0.7))
        x = coordtest.random_positions(np.random.default_rng(11), box, 60, closest=0.05)
        one = lambda x: (np.ones_like(x), np.zeros_like(x))
        switches = [
            Switch("rational", 0.9), Switch("rational", 1.0, n=3, dmax=2.8),
            Switch("rational", 1.0, n=5, m=9, dmax=2.8), Switch("rational", 0.8, n=8, m=20, d0=0.3),
            Switch("rational", 1.3, n=2.5, m=7.25, dmax=2.9), Switch("rational", 1.0, n=12, m=24, dmax=2.9),
            Switch("rational", 1.0, n=2, m=11, d0=0.1, dmax=2.9, stretch=False),
            Switch("exp", 0.7, d0=0.4, dmax=2.9), Switch("exp", 0.7, dmax=2.9, stretch=False),
            Switch("gaussian", 1.1, dmax=2.9), Switch("gaussian", 0.6, d0=1.0, dmax=2.9, stretch=False),
            Switch("smap", 1.2, a=6, b=9, dmax=2.9), Switch("smap", 1.2, a=10, b=3, d0=0.2, dmax=2.9, stretch=False),
            Switch("cubic", d0=0.8, dmax=2.6), Switch("cubic", dmax=2.9),
            Switch("tanh", 1.4, dmax=2.9), Switch("tanh", 0.5, d0=1.1, dmax=2.9, stretch=False),
            Switch("cosinus", 1.7, d0=1.1), Switch("cosinus", 2.5),
            Switch("q", beta=5.0, ref=1.0, dmax=2.9),
            Switch("q", beta=9.0, lam=1.2, ref=1.5, dmax=2.9, stretch=False),
            Switch("q", beta=2.0, lam=1.2, ref=1.0, d0=0.9, dmax=2.9),
            Switch("q", beta=2.0, lam=1.2, ref=1.0, d0=0.9, dmax=2.9, stretch=False),
            Switch("custom", 1.3, func=lambda x: (1 / (1 + x**4), -4 * x**3 / (1 + x**4) ** 2), dmax=2.9,
                   expression="1/(1+x^4)"),
            Switch("custom", 1.3, d0=0.5, func=lambda x: (np.exp(-x) * (1 + x), -x * np.exp(-x)), dmax=2.9,
                   expression="exp(-x)*(1+x)", stretch=False),
            Switch("custom", 1.0, func=one, dmax=2.9, expression="1", stretch=False),
        ]
        self.assertEqual({s.kind for s in switches},
                         {"rational", "exp", "gaussian", "smap", "cubic", "tanh", "cosinus", "q", "custom"})
        with coordtest.start() as lmp:
            coordtest.make_system(lmp, box, x, ghosts=6.5)
            cases = []
            for switch in switches:
                short = switch.dmax < 0.5 * box.shortest_vector()
                for engine in ("cells", "allpairs"):
                    image = "minimum" if engine == "allpairs" else "all"
                    cases.append((f"c{len(cases)}", switch, image, engine))
                    lmp.command(f"compute {cases[-1][0]} all coord/gpu {switch.keywords} engine {engine} "
                                f"{'' if short else 'image ' + image} precision double")
            lmp.command("run 0")
            for ident, switch, image, engine in cases:
                expected = brute_force(box, x, switch, np.arange(len(x)), image=image)
                coordtest.assert_same(brutetest.result_of(lmp, ident), expected, TOLERANCE,
                                      f"{switch.keywords}, engine {engine}")

    def test_distances_at_the_singular_points(self):
        """r at d0, r0 and dmax, and near r0, where (1 - x^n)/(1 - x^m) is 0/0."""
        box = Box((40.0, 40.0, 40.0), periodic=(False,) * 3)
        dmax, r0 = 4.0, 1.25
        for switch, d0 in ((Switch("rational", r0, n=6, m=10, d0=0.5, dmax=dmax), 0.5),
                           (Switch("rational", r0, n=2.5, m=3.5, d0=0.5, dmax=dmax), 0.5),
                           (Switch("rational", r0, n=3, m=6, d0=0.5, dmax=dmax, stretch=False), 0.5)):
            offsets = [0.0] + [sign * 10.0**-p for p in range(2, 14) for sign in (1, -1)]
            distances = [d0 + r0 + t for t in offsets] + [d0, d0 + 1e-9, d0 / 2, dmax, dmax - 1e-9, dmax + 1e-9]
            for r in distances:
                x = coordtest.in_lammps([[20.0, 20.0, 20.0], [20.0 + r, 20.0, 20.0]])
                r = x[1, 0] - x[0, 0]    # r after rounding next to 20
                with self.subTest(switch=switch.keywords, r=r):
                    result = self.evaluate_pair(box, x, switch)
                    s, dsdr = (float(v[0]) for v in switch(np.array([r])))
                    self.assertAlmostEqual(result.value, s, delta=1e-14)
                    self.assertAlmostEqual(result.atoms[1, 1], dsdr, delta=1e-13)

    def evaluate_pair(self, box, x, switch):
        if not hasattr(self, "lmp"):
            self.lmp = coordtest.start()
            coordtest.make_system(self.lmp, box, x, ghosts=5.0, cutoff=4.0)
        lmp = self.lmp
        lmp.command(f"compute c all coord/gpu {switch.keywords} precision double")
        coordtest.move_to(lmp, x)
        lmp.command("run 0")
        result = brutetest.result_of(lmp, "c")
        lmp.command("uncompute c")
        return result

    def tearDown(self):
        if hasattr(self, "lmp"):
            self.lmp.close()


if __name__ == "__main__":
    unittest.main(verbosity=2)
