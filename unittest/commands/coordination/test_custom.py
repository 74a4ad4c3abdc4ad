"""compute coord/custom: an expression of variables against differences, brute force, coordination numbers with the
same meaning, and PLUMED's formulas, in every kind of run.

brute_force gives S, dS/dx and W of the children; the chain rule is written out here for each expression.
"""

import itertools
import unittest

import numpy as np

import brutetest
import coordtest
import dumptest
import test_bias_forces
from brutetest import Switch, brute_force
from test_bias_hills import bias_of
from test_bias_parallel import DT, LEFT, N, RIGHT, SAME, SWITCH, crystal, forces, new_hills, output, state, text_of

# Expressions of the variables of test_bias_forces: text, names and variables, and its value and derivatives.
CASES = {
    "difference": ("a - b", "a one b two", lambda a, b: (a - b, [1, -1])),
    "twice": ("2*a", "a mean", lambda a: (2 * a, [2])),
    "ratio": ("a*b/(1 + c)", "a one b two c pair",
              lambda a, b, c: (a * b / (1 + c), [b / (1 + c), a / (1 + c), -a * b / (1 + c)**2])),
    "functions": ("exp(-x/10)*sqrt(y) + 0.1*x", "y mean x pair",
                  lambda y, x: (np.exp(-x / 10) * np.sqrt(y) + 0.1 * x,
                                [np.exp(-x / 10) / (2 * np.sqrt(y)), -np.exp(-x / 10) * np.sqrt(y) / 10 + 0.1])),
    "larger": ("max(a, b)", "a one b mean", lambda a, b: (max(a, b), [a > b, b > a])),
}
# Expressions of expressions, each of the last ones: the whole by the variables of test_bias_forces.
NESTED = ([("u", '"a - b" a c_one b c_two'), ("w", '"u*u/c" c c_mean u c_u'), ("z", '"w + 3*u + a" w c_w u c_u a c_one')],
          "one two mean", lambda a, b, c: ((a - b)**2 / c + 3 * (a - b) + a,
                                           [2 * (a - b) / c + 4, -2 * (a - b) / c - 3, -((a - b) / c)**2]))


def chain(parts, function):
    """Value, gradients and virial of a function of results of brute_force."""
    value, derivatives = function(*(float(part.value) for part in parts))
    return (value, sum(d * part.atoms[:, 1:] for d, part in zip(derivatives, parts)),
            sum(d * np.array(part.virial) for d, part in zip(derivatives, parts)))


class System(test_bias_forces.System):
    """The system of test_bias_forces, which has the computes one, two, mean and pair."""

    def custom(self, case, ident="d"):
        text, words, function = CASES[case]
        names = words.split()
        self.commands(f'compute {ident} all coord/custom "{text}" ' +
                      " ".join(f"{name} c_{compute}" for name, compute in zip(names[::2], names[1::2])))
        return names[1::2], function

    def brute_force(self, names):
        return [brute_force(self.box, self.x(), **test_bias_forces.COMPUTES[name][1]) for name in names]

    def result(self, ident="d"):
        """Value, gradients and virial, by LAMMPS."""
        return (coordtest.scalar_of(self.lmp, ident), coordtest.atoms_of(self.lmp, ident),
                coordtest.virial_of(self.lmp, ident))


class Values(unittest.TestCase):
    def compare(self, system, names, function, what, ident="d"):
        found, expected = system.result(ident), chain(system.brute_force(names), function)
        self.assertEqual(found[1].shape, (test_bias_forces.N, 3))
        for kind, mine, reference in zip(("S", "dS/dx", "W"), found, expected):
            self.assertLess(coordtest.error_of(mine, reference), coordtest.rounded(coordtest.DOUBLE), f"{what}: {kind}")

    def test_chain_rule(self):
        for box, (case, _) in itertools.product(test_bias_forces.BOXES, CASES.items()):
            system = System(self, test_bias_forces.BOXES[box])
            names, function = system.custom(case)
            system.commands("run 0")
            self.compare(system, names, function, f"{box}, {case}")
            # each output alone, in another order, and twice at the same step
            for _ in range(2):
                self.compare(system, names, function, f"{box}, {case}, again")

    def test_nested(self):
        definitions, names, function = NESTED
        system = System(self, test_bias_forces.BOXES["triclinic"])
        for ident, words in definitions:
            system.commands(f"compute {ident} all coord/custom {words}")
        system.commands("run 0")
        self.compare(system, names.split(), function, "nested", "z")

    def test_shared_variables(self):
        """Each of 120 levels has two expressions of both expressions below it. Two levels cancel: x, y -> x + y, x - y -> x, y.
        Walks along all paths would take 2^120 steps."""
        system = System(self, test_bias_forces.BOXES["triclinic"])
        system.commands("compute x0 all coord/custom 2*a a c_one", 'compute y0 all coord/custom "3*a + b" a c_one b c_two')
        for k in range(120):
            scale = 0.5 if k % 2 else 1.0
            for name, sign in (("x", "+"), ("y", "-")):
                system.commands(f"compute {name}{k + 1} all coord/custom {scale}*(a{sign}b) a c_x{k} b c_y{k}")
        system.commands("fix b all coord/bias c_y120 linear k 0.7", "run 0")
        function = lambda a, b: (3 * a + b, [3, 1])
        _, gradients, _ = chain(system.brute_force(["one", "two"]), function)
        self.assertLess(coordtest.error_of(system.forces_of_bias(coordtest.forces_of(system.lmp)), -0.7 * gradients),
                        coordtest.rounded(coordtest.DOUBLE) + coordtest.FORCES)
        self.compare(system, ["one", "two"], function, "shared", "y120")
        system.commands("run 2")

    def test_differences(self):
        """Gradients and virial are limits of differences of S in positions and strain."""
        for box, case in itertools.product(test_bias_forces.BOXES, ("ratio", "functions")):
            system = System(self, test_bias_forces.BOXES[box])
            system.custom(case)
            if not system.box.tilted:
                system.commands("change_box all triclinic")
            system.commands("run 0")
            _, gradients, virial = system.result()
            step = test_bias_forces.STEP

            def value():
                system.commands("run 0")
                return coordtest.scalar_of(system.lmp, "d")

            atoms = np.argsort(np.abs(gradients).max(axis=1))[-3:]
            by_positions, by_strain = coordtest.differences(system.lmp, system.box, atoms, value, step)
            rounding = coordtest.rounding_of_difference(system.box, gradients, step)
            errors = [coordtest.error_of(*both, rounding) for both in ((gradients[atoms], by_positions), (virial, -by_strain))]
            print("%s, %s: dS/dx %.1e, W %.1e" % (box, case, *errors))
            self.assertLessEqual(max(errors), test_bias_forces.TOLERANCE, f"{box}, {case}")


class SameMeaning(unittest.TestCase):
    """Coordination numbers that equal the value of an expression of others."""

    def test_twice_a_number(self):
        """Multiplication by 2 is exact, so the bits are the same."""
        system = System(self, test_bias_forces.BOXES["triclinic"])
        system.custom("twice")
        system.commands("run 0")
        value, gradients, virial = system.result()
        self.assertEqual(value, 2 * coordtest.scalar_of(system.lmp, "mean"))
        np.testing.assert_array_equal(gradients, 2 * coordtest.atoms_of(system.lmp, "mean")[:, 1:])
        np.testing.assert_array_equal(virial, 2 * coordtest.virial_of(system.lmp, "mean"))

    def test_sum_of_disjoint_groups(self):
        """The pairs of left with right and of rest with right are those of both with right."""
        system = System(self, test_bias_forces.BOXES["orthogonal"])
        coordtest.define_group(system.lmp, "some", range(6))
        coordtest.define_group(system.lmp, "rest", range(6, 15))
        tail = test_bias_forces.SHORT.keywords + " group2 right precision double"
        system.commands(f"compute some some coord/gpu {tail}", f"compute rest rest coord/gpu {tail}",
                        f"compute both left coord/gpu {tail}",
                        'compute d all coord/custom "p + q" p c_some q c_rest', "run 0")
        expected = (coordtest.scalar_of(system.lmp, "both"), coordtest.atoms_of(system.lmp, "both")[:, 1:],
                    coordtest.virial_of(system.lmp, "both"))
        for found, reference in zip(system.result(), expected):
            self.assertLess(coordtest.error_of(found, reference), coordtest.LAST_DIGITS)

    def test_biases(self):
        """A bias on twice the variable, with converted parameters, gives the same energy, forces, virial and stress."""
        for on_variable, on_twice in (("harmonic k 40 s0 2", "harmonic k 10 s0 4"), ("linear k 3", "linear k 1.5"),
                                      ("wall/lower k 8 s0 7", "wall/lower k 2 s0 14"),
                                      ("moving k 40 s0 2 s0/stop 1 steps 4", "moving k 10 s0 4 s0/stop 2 steps 4")):
            results = []
            for variable, words in (("c_mean", on_variable), ("c_d", on_twice)):
                system = System(self, test_bias_forces.BOXES["triclinic"])
                system.custom("twice")
                system.commands(f"fix b all coord/bias {variable} {words}", "fix move all nve", "run 3")
                results.append([*system.now(), system.stress(), system.x()])
                self.assertGreater(system.lmp.extract_fix("b", 0, 0), 0.1)
            for found, expected in zip(*results):
                coordtest.assert_same_bits(found, expected, on_variable)

    def test_energy_is_that_of_the_forces(self):
        """Forces and virial of biases on expressions are limits of differences of the energy."""
        differences = test_bias_forces.Differences()

        class OfCustom(System):
            def __init__(self, test, box):
                super().__init__(test, box)
                for case in CASES:
                    self.custom(case, case)
                for ident, words in NESTED[0]:
                    self.commands(f"compute {ident} all coord/custom {words}")
                self.evaluate()
                self.s.update((name, coordtest.scalar_of(self.lmp, name)) for name in [*CASES, "u", "w", "z"])

        ordinary, test_bias_forces.System = test_bias_forces.System, OfCustom
        test_bias_forces.SIGMA.update({name: 0.4 for name in [*CASES, "u", "w", "z"]})
        self.addCleanup(setattr, test_bias_forces, "System", ordinary)
        self.addCleanup(differences.doCleanups)
        for box in test_bias_forces.BOXES:
            for names, arguments in (("difference", "harmonic k 3.0 s0 {s[0]-0.5}"),
                                     ("ratio", "wall/upper k 0.4 s0 {s[0]-0.9} exponent 3"),
                                     ("z one", "moving k 0.3 2.0 s0 {s[0]-1} {s[1]+0.3} s0/stop {s[0]+2} {s[1]-1} steps 10"),
                                     ("difference two functions", dict(grid=True)), ("u", {})):
                with self.subTest(box=box, variables=names):
                    differences.compare(f"{box}, {names}", test_bias_forces.BOXES[box], names, arguments)


# ---------------------------------------------------------------- runs

def computes(suffix=""):
    """Variables of test_bias_parallel, about 9 and 8.5, and expressions of them."""
    words = f"{SWITCH.keywords} precision double norm mean"
    return [f"compute c{suffix} all coord/gpu {words}", f"compute d{suffix} left coord/gpu group2 right {words}",
            f'compute e{suffix} all coord/custom "c - d" c c_c{suffix} d c_d{suffix}',
            f'compute g{suffix} all coord/custom "10*e^2 + d/2" e c_e{suffix} d c_d{suffix}']


FIXES = {
    "harmonic": "c_e harmonic k 100 s0 0.8",
    "both": "c_g c_d harmonic k 10 20 s0 5 8.9",    # parent and child
    "moving": "c_g moving k 20 s0 4 s0/stop 6 steps 45 stride 3",
    "metad": "c_e metad sigma 0.1 height 1.0 pace 8 file {hills}.metad",
    "grid": "c_e c_c metad sigma 0.1 0.1 height 1.0 pace 5 grid -9 9 2 12 bins 300 200 file {hills}.grid",
}


def all_fixes(hills):
    return [f"fix {name} all coord/bias {words.format(hills=hills)}" for name, words in FIXES.items()]


def parts_by_brute_force(frame):
    """c and d of the positions of a frame."""
    return [brute_force(frame.box, frame.x(), SWITCH, *groups, norm="mean") for groups in ((np.arange(N),), (LEFT, RIGHT))]


def expression_of(name):
    return {"e": lambda c, d: (c - d, [1, -1]),
            "g": lambda c, d: (10 * (c - d)**2 + d / 2, [20 * (c - d), -20 * (c - d) + 0.5])}[name]


class Runs(unittest.TestCase):
    def run_on(self, ranks, runs=("run 40",), more=(), every=10, begin=None, hills=None):
        hills = hills or new_hills()
        columns = "etotal press " + " ".join(f"c_{name} c_{name}[*]" for name in "eg")
        script = (begin or crystal()) + forces() + computes() + all_fixes(hills) + output(FIXES, every, columns)
        script[-2] += " " + " ".join(f"c_{name}[*]" for name in "eg")
        return coordtest.run_lammps(script + [*more, *runs], ranks), hills

    def check_columns(self, run, nframes, table=0):
        """Values of thermo and dump, against brute force on the frames of the dump."""
        frames, rows = dumptest.read_dump(run.path("dump"))[-nframes:], run.tables[table]
        self.assertEqual(len(rows["Step"]), nframes)
        for row, frame in enumerate(frames):
            parts = parts_by_brute_force(frame)
            for name in "eg":
                value, gradients, virial = chain(parts, expression_of(name))
                found = np.column_stack([frame[f"c_{name}[{k}]"] for k in (1, 2, 3)])
                tolerance = coordtest.rounded(1e-11)
                self.assertLess(coordtest.error_of(rows[f"c_{name}"][row], value), tolerance)
                self.assertLess(coordtest.error_of([rows[f"c_{name}[{k}]"][row] for k in range(1, 7)], virial), tolerance)
                self.assertLess(coordtest.error_of(found, gradients), tolerance)

    def test_ranks(self):
        expected, expected_hills = self.run_on(1)
        self.check_columns(expected, 5)
        where = "Compute coord/custom e: S = c - d with c = c_c, d = c_d, evaluated on the "
        self.assertIn(where + ("GPU\n" if coordtest.ON_KOKKOS_GPU else "host\n"), expected.text)
        for ranks in (2, 4):
            run, hills = self.run_on(ranks)
            self.assertIn(where + "host\n", run.text)
            self.check_columns(run, 5)
            for name, column in expected.tables[0].items():
                self.assertLess(coordtest.error_of(run.tables[0][name], column), SAME, f"{ranks} ranks: {name}")
            for name in ("xu", "vx", "fz"):
                self.assertLess(coordtest.error_of(state(run)[name], state(expected)[name]), SAME, f"{ranks} ranks: {name}")
            for name in ("metad", "grid"):
                self.assertLess(coordtest.error_of(*(np.loadtxt(f"{file}.{name}") for file in (hills, expected_hills))), SAME)

    def test_kinds_of_runs(self):
        """The output belongs to the positions at the step at which it is written."""
        for what, lines, nframes in (
                ("run 0 twice", ["run 0", "run 0"], 1), ("pieces", ["run 7", "run 5 pre no", "run 4"], 5),
                ("minimization", ["min_style cg", "minimize 0 0 6 1000"], 7),
                ("rRESPA", ["run_style respa 2 2 pair 1", "run 6"], 7),
                ("a box that changes", ["fix shear all deform 1 xy erate 0.2 x erate 0.1 remap x", "run 6"], 7)):
            with self.subTest(what):
                run, _ = self.run_on(2, lines, every=1, begin=crystal() + ["change_box all triclinic"])
                self.check_columns(run, nframes, -1)

    def test_restart(self):
        """A run in two pieces equals the uninterrupted one, to the bit."""
        for ranks in (1, 2):
            whole, _ = self.run_on(ranks, ["run 40"], ["restart 20 r.*"], every=40)
            hills = new_hills()
            self.run_on(ranks, ["run 27"], [f"restart 20 {hills}.r.*"], every=40, hills=hills)
            parts, _ = self.run_on(ranks, ["run 20"], ["restart 20 r.*"], every=40, hills=hills,
                                   begin=[f"read_restart {hills}.r.20"])
            expected, found = state(whole), state(parts)
            for name in expected:
                coordtest.assert_same_bits(found[name], expected[name], f"{ranks} ranks: {name}", in_pieces=True)
            self.assertEqual(len(np.loadtxt(f"{hills}.metad")), 5)


class OneEvaluation(unittest.TestCase):
    """Fixes on an expression and on its variables evaluate each once, with the same bits as with variables of their own."""

    FIXES = {"a": "c_c{a} harmonic k 300 s0 8.6", "b": "c_e{b} moving k 200 s0 0.9 s0/stop 0.5 steps 10 stride 2",
             "c": "c_g{c} c_d{c} harmonic k 20 30 s0 7 8.9 stride 3"}
    STYLES = {"Verlet": ["run 12"], "two runs": ["run 5", "run 7 pre no"],
              "minimization": ["min_style cg", "minimize 0 0 12 1000"],
              "rRESPA": ["run_style respa 3 2 2 pair 1", "fix_modify a respa 2", "fix_modify c respa 1", "run 12"]}

    def run_with(self, order, own, runs):
        suffixes = {name: name if own else "" for name in "abc"}
        lines = sum((computes(suffix) for suffix in sorted(set(suffixes.values()))), [])
        with coordtest.start() as lmp:
            for line in crystal() + forces() + lines + [
                    f"fix {name} all coord/bias {self.FIXES[name].format(**suffixes)}" for name in order] + [
                    f"fix_modify {order[0]} virial no", "thermo 4", *runs]:
                lmp.command(line)
            return [np.array(lmp.gather_atoms(what, 1, 3)) for what in "xvf"] + [
                lmp.extract_fix(name, 0, 1, k) for name in "abc" for k in range(5)] + [lmp.get_thermo("press")]

    def test_same_bits(self):
        for name, runs in self.STYLES.items():
            for order in itertools.permutations("abc"):
                for found, expected in zip(*(self.run_with(order, own, runs) for own in (False, True))):
                    coordtest.assert_same_bits(found, expected, f"{name}, {order}", at_other_steps=True)

    def test_evaluated_once(self):
        """Keyword check stops at the tenth evaluation (see test_bias_parallel), with expressions of
        the variable at the same step."""
        expressions = ['compute e all coord/custom "2*c" c c_c', 'compute g all coord/custom "e*c" e c_e c c_c']
        for fixes in (["c_c"], ["c_e"], ["c_g"], ["c_c", "c_e"], ["c_g", "c_e", "c_c", "c_g"]):
            with coordtest.start() as lmp:
                coordtest.make_system(lmp, brutetest.Box((20.0,) * 3), [[5.0, 5.1, 5.2], [8.05, 5.1, 5.2]], ghosts=3.5)
                for line in ["compute c all coord/gpu switch rational 1.1 dmax 3.0 precision mixed check 10 1e-300",
                             *expressions, *(f"fix b{k} all coord/bias {name} linear k 1.0" for k, name in enumerate(fixes)),
                             "group one id 1", "fix move one move linear 0.037 0 0", "timestep 1.0", "thermo 1000"]:
                    lmp.command(line)
                with self.assertRaisesRegex(Exception, "check: "):
                    lmp.command("run 100")
                self.assertEqual(lmp.extract_global("ntimestep"), 11, fixes)

    def test_output_between_fixes(self):
        """A variable of the input script that reads the expression while fixes are at work changes nothing but itself."""
        for read in ("c_g+c_e[1]+c_e", "c_c", "c_e", "c_d[2]"):
            self.compare_with_output_of(read)

    def compare_with_output_of(self, read):
        results = []
        for s0 in ("v_s", "0.75"):
            with coordtest.start() as lmp:
                for line in crystal() + forces() + computes() + [
                        f"variable s equal 0.75+0*({read})", "fix a all coord/bias c_e harmonic k 100 s0 0.7",
                        f"fix b all coord/bias c_e c_d moving k v_k 50 s0 {s0} 8.8", "fix c all coord/bias c_g linear k 2",
                        "fix d all coord/bias c_g moving k v_k s0 4",
                        "thermo 4"]:
                    if line.startswith("fix b"):
                        lmp.command("variable k equal 90+step")
                    lmp.command(line)
                lmp.command("run 8")
                results.append([*(np.array(lmp.gather_atoms(what, 1, 3)) for what in "xvf"), lmp.get_thermo("press"),
                                *(lmp.extract_fix(name, 0, 0) for name in "abcd")])
        for found, expected in zip(*results):
            self.assertLess(coordtest.error_of(found, expected), coordtest.rounded(coordtest.DOUBLE), read)


class Forces(unittest.TestCase):
    """Forces of fixes in steps that need neither virial nor values on the host: with KOKKOS on a GPU it does not wait for
    the expressions."""

    # variable, strength, center, and stride of harmonic biases
    FIXES = {"e": (300.0, 0.8, 1), "g": (7.0, 4.0, 3), "c": (50.0, 8.6, 1)}

    def test_forces(self):
        lines = crystal() + forces() + computes() + ["fix before all store/force"] + [
            f"fix b{name} all coord/bias c_{name} harmonic k {k} s0 {s0} stride {stride}"
            for name, (k, s0, stride) in self.FIXES.items()] + ["fix after all store/force", "thermo 100"]
        lines += ["dump d all custom 1 dump id type x y z f_before[*] f_after[*]", "dump_modify d sort id format float %.17g"]
        run = coordtest.run_lammps(lines + ["run 9"])
        if coordtest.ON_KOKKOS_GPU:
            self.assertIn("Compute coord/custom g: S = 10*e^2 + d/2 with e = c_e, d = c_d, evaluated on the GPU", run.text)
        frames = dumptest.read_dump(run.path("dump"))
        self.assertEqual(len(frames), 10)
        for frame in frames:
            parts = parts_by_brute_force(frame)
            values = {name: chain(parts, expression_of(name)) for name in "eg"}
            values["c"] = (float(parts[0].value), parts[0].atoms[:, 1:], None)
            expected = np.zeros((N, 3))
            for name, (k, s0, stride) in self.FIXES.items():
                if frame.step % stride == 0:
                    expected -= stride * k * (values[name][0] - s0) * values[name][1]
            found = np.column_stack([frame[f"f_after[{a}]"] - frame[f"f_before[{a}]"] for a in (1, 2, 3)])
            tolerance = coordtest.rounded(1e-11) + coordtest.FORCES * np.abs(frame["f_after[1]"]).max()
            self.assertGreater(np.abs(expected).max(), 0.1)
            self.assertLess(coordtest.error_of(found, expected), tolerance, frame.step)

    def test_too_large_for_the_gpu(self):
        """Such an expression is evaluated on the host, with the reason."""
        deep = "c"
        for k in range(40):
            deep = f"exp(({deep})/{k + 20} - c/20)"
        results = []
        for s0 in (0.1, 0.2):
            lines = crystal() + forces() + computes() + [f'compute h all coord/custom "{deep}" c c_c',
                f"fix b all coord/bias c_h linear k {s0}", "fix before all store/force", "thermo 100",
                "thermo_style custom step c_c c_h", "dump d all custom 1 dump id type x y z fx fy fz",
                "dump_modify d sort id format float %.17g"]
            run = coordtest.run_lammps(lines + ["run 2"])
            reason = (": the expression or its derivative needs a stack of 40 numbers, and the GPU has 32 - nest it less "
                      "deeply")
            self.assertIn(", evaluated on the host" + (reason if coordtest.ON_KOKKOS_GPU else "") + "\n", run.text)
            results.append(dumptest.read_dump(run.path("dump"))[0])
        c = float(parts_by_brute_force(results[0])[0].value)

        def nested(at):
            found = at
            for k in range(40):
                found = np.exp(found / (k + 20) - at / 20)
            return found

        derivative = coordtest.extrapolate([nested(c + factor * 1e-3) for factor in (-1, -0.5, 0.5, 1)], 1e-3)
        gradients = parts_by_brute_force(results[0])[0].atoms[:, 1:]
        found = np.column_stack([results[1][f"f{a}"] - results[0][f"f{a}"] for a in "xyz"])
        self.assertLess(coordtest.error_of(found, -0.1 * derivative * gradients), coordtest.rounded(1e-8))


class Metadynamics(unittest.TestCase):
    """Metadynamics on the difference of two coordination numbers, such as those of a proton between two molecules."""

    def run_it(self, bias, dt, nsteps):
        hills = new_hills()
        lines = crystal() + forces() + computes() + ["fix before all store/force", f"timestep {dt!r}",
            f"fix b all coord/bias c_e metad sigma 0.1 height 1.0 pace {nsteps // 8} file {hills} {bias}",
            "fix after all store/force"] + output(["b"], max(nsteps // 40, 1))
        lines[-2] += " f_before[*] f_after[*]"
        return coordtest.run_lammps(lines + [f"run {nsteps}"]), hills

    def test_energy_and_forces(self):
        for bias in ("", "biasfactor 6 temp 1.4", "grid -4 6 bins 2000"):
            with self.subTest(bias):
                run, hills = self.run_it(bias, DT, 40)
                rows, frames = run.tables[0], dumptest.read_dump(run.path("dump"))
                lines = [line for line in text_of(hills).split("\n") if line and line[0] != "#"]
                self.assertEqual(len(lines), 8)
                of_v, of_forces = (1e-4, 1e-3) if "grid" in bias else (1e-10, 1e-8)    # a grid interpolates
                for row, frame in enumerate(frames):
                    parts = parts_by_brute_force(frame)
                    s, gradients, _ = chain(parts, expression_of("e"))
                    self.assertLess(coordtest.error_of(rows["f_b[1]"][row], s), coordtest.rounded(1e-12))
                    known = lines[:row // 5]
                    if row and row % 5 == 0:
                        self.assertAlmostEqual(float(known[-1].split()[1]), s, delta=coordtest.rounded(1e-12) * 10)
                    v = lambda at: bias_of(known, [at])
                    self.assertAlmostEqual(rows["f_b"][row], v(s), delta=coordtest.rounded(of_v))
                    if row % 5 == 0:
                        continue    # a hill at S has derivative 0 there, so that forces may be zero
                    derivative = coordtest.extrapolate([v(s + factor * 1e-4) for factor in (-1, -0.5, 0.5, 1)], 1e-4)
                    found = np.column_stack([frame[f"f_after[{k}]"] - frame[f"f_before[{k}]"] for k in (1, 2, 3)])
                    largest = np.abs(gradients).max() * max(abs(derivative), 0.1)
                    np.testing.assert_allclose(found, -derivative * gradients, 0, coordtest.rounded(of_forces) * largest +
                                               coordtest.FORCES * np.abs(frame["f_after[1]"]).max())
                self.assertGreater(rows["f_b"].max(), 1)

    def test_conserved_energy(self):
        """Energy minus the work of the hills drifts with the square of the timestep."""
        drifts = []
        for factor in (1, 2):
            run, _ = self.run_it("", DT / 2 / factor, 160 * factor)
            rows = run.tables[0]
            conserved = rows["TotEng"] - rows["f_b[5]"]
            self.assertGreater(rows["f_b[5]"][-1], 3)
            drifts.append(np.ptp(conserved))
        print(f"conserved to {drifts[0]:.1e} and {drifts[1]:.1e}")
        self.assertLess(drifts[0], 0.1)
        if not coordtest.POSITION_ROUNDOFF:
            self.assertLess(drifts[1], drifts[0] / 3)


class Uses(unittest.TestCase):
    """Commands that read the compute."""

    def test_output_commands(self):
        run = coordtest.run_lammps(
            crystal() + forces() + computes() +
            ["variable twice equal 2*c_e+c_e[4]", "variable length atom sqrt(c_g[1]^2+c_g[2]^2+c_g[3]^2)",
             "compute total all reduce sum c_g[*]", "fix time all ave/time 1 3 3 c_e c_g[2] file time format ' %.17g'",
             "fix atoms all ave/atom 1 2 2 c_e[2]", "thermo 1",
             "thermo_style custom step c_e c_e[*] c_g c_g[*] v_twice c_total[*]", "thermo_modify format float %.17g",
             "dump d all custom 2 dump id x y z c_e[*] c_g[*] v_length f_atoms", "dump_modify d format float %.17g sort id",
             "run 6"], 2)
        rows, frames = run.tables[0], dumptest.read_dump(run.path("dump"))
        np.testing.assert_array_equal(rows["v_twice"], 2 * rows["c_e"] + rows["c_e[4]"])    # intensive: not over atoms
        self.assertEqual(len(set(rows["c_e"])), 7)
        for frame in frames:
            value, gradients, _ = chain(parts_by_brute_force(frame), expression_of("g"))
            self.assertLess(coordtest.error_of(rows["c_g"][frame.step], value), coordtest.rounded(1e-11))
            length = np.linalg.norm([frame[f"c_g[{k}]"] for k in (1, 2, 3)], axis=0)
            self.assertLess(coordtest.error_of(frame["v_length"], length), coordtest.LAST_DIGITS)
            self.assertLess(coordtest.error_of(length, np.linalg.norm(gradients, axis=1)), coordtest.rounded(1e-11))
        for k in (1, 2, 3):    # no force on the center of all atoms
            self.assertLess(np.abs(rows[f"c_total[{k}]"]).max(), coordtest.rounded(1e-11))
        for line in np.loadtxt(run.path("time"))[1:]:
            steps = [int(line[0]) - back for back in (0, 1, 2)]
            self.assertAlmostEqual(line[1], rows["c_e"][steps].mean(), delta=1e-12)
            self.assertAlmostEqual(line[2], rows["c_g[2]"][steps].mean(), delta=1e-12 * abs(line[2]))

    def test_rerun(self):
        run = coordtest.run_lammps(
            crystal() + forces() + computes() + ["thermo_style custom step c_e c_g", "thermo_modify format float %.17g",
            "thermo 5", "dump d all custom 5 frames id type x y z", "dump_modify d format float %.17g", "run 10", "undump d",
            "unfix move", "rerun frames dump x y z"])
        for name in ("c_e", "c_g"):
            self.assertEqual(len(set(run.tables[0][name])), 3)
            self.assertLess(coordtest.error_of(run.tables[1][name], run.tables[0][name]), coordtest.rounded(1e-11))


if __name__ == "__main__":
    unittest.main(verbosity=2)
