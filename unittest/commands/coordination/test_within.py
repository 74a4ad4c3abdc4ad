"""Keyword within of coordination numbers and order parameters: S on any number of ranks as plain sums in
numpy, dS/dx and W as differences of S, regions that contain all atoms, biases. test_plumed_functions.py compares with
PLUMED, and test_errors.py has the errors."""
# Processors: 4

import math
import re
import unittest

import numpy as np

import coordtest
import dumptest
from brutetest import Box, Switch, brute_force

erf = np.vectorize(math.erf)
N, SOLUTE = 90, np.arange(3, 9)
MASSES = np.where(np.arange(N) % 3 == 0, 4.0, 1.0)    # of types 2 and 1
GROUPS = {"all": np.arange(N), "left": np.arange(0, 50), "late": np.arange(30, N), "right": np.arange(40, N),
          "solute": SOLUTE}
SWITCH, LONG = Switch("rational", 1.0, n=6, m=10, dmax=2.2), Switch("rational", 2.5, n=6, m=10, dmax=6.2)
BOXES = {"orthogonal": Box((6.5, 6.0, 7.0)), "tilted": Box((6.5, 6.0, 7.0), (2.9, -2.2, 2.0), lo=(-1.0, 2.0, -3.0)),
         "open": Box((6.5, 6.0, 7.0), periodic=(True, False, False))}
STEP = 2.0**-13    # distance and strain


def rational(s):
    return 1 - (1 - (s / 4)**6) / (1 - (s / 4)**12)


# ID: group, group2, words of the function, f, whether S counts each pair once, norm
KINDS = {"pairs_once": ("all", None, "", lambda s: s, True, "sum"),
         "mean_once": ("late", None, "", lambda s: s, True, "mean"),
         "two": ("left", "late", "", lambda s: s, False, "mean"),
         "more": ("all", None, "function more_than rational 4", rational, False, "sum"),
         "square": ("left", "late", "function custom s^2", lambda s: s**2, False, "mean"),
         "allpairs": ("late", None, "engine allpairs image minimum function custom s^2", lambda s: s**2, False, "mean"),
         "matched": ("left", None, "pairs right image minimum function custom s^2", lambda s: s**2, False, "mean")}
# ID: kind of the region, lo, hi, smear, relative to the lower edge of the box. One of them crosses the edge of the box,
# one has edges that smear each other, and one is nearly as wide as the box.
REGIONS = {"x": ("x", 1.5, 4.0, 0.3), "edge": ("y", -1.0, 1.2, 0.25), "narrow": ("z", 3.0, 3.3, 0.4),
           "wide": ("z", 0.3, 7.2, 0.5), "ball": ("r", 0.0, 1.7, 0.15), "shell": ("r", 1.0, 1.9, 0.12)}


def region_words(box, name):
    kind, lo, hi, smear = REGIONS[name]
    if kind == "r":
        return f"within r {lo} {hi} center solute smear {smear}"
    lower = box.lo["xyz".index(kind)]
    return f"within {kind} {lo + lower!r} {hi + lower!r} smear {smear}"


def computes(box, switch=SWITCH.keywords, switch_of_matched=LONG.keywords):
    """Return the command of each ID."""
    result = {}
    for kind, (group, group2, function, _, _, norm) in KINDS.items():
        for region in REGIONS:
            words = f"group2 {group2} " if group2 else ""
            of_kind = switch_of_matched if kind == "matched" else switch
            result[f"{kind}_{region}"] = (f"{group} coord/gpu {of_kind} {words}{function} norm {norm} precision double "
                                          + region_words(box, region))
    return result


def commands(box, x, first=()):
    data = coordtest.new_file()
    coordtest.write_data(data, x, box, [2 if mass == 4 else 1 for mass in MASSES])
    return ["units lj", *first, "atom_modify map array", "boundary " + " ".join("pf"[not p] for p in box.periodic),
            "box tilt large", f"read_data {data}", "mass 1 1.0", "mass 2 4.0", "pair_style zero 1.0 nocoeff", "pair_coeff * *",
            "neighbor 0.3 bin", "neigh_modify every 1 delay 0 check yes", "comm_modify cutoff 4.5",
            *(f"group {name} id " + " ".join(str(k + 1) for k in atoms) for name, atoms in GROUPS.items() if name != "all")]


# ---------------------------------------------------------------- plain sums

def weights(box, x, unwrapped, region):
    """Return w of atoms at x."""
    kind, lo, hi, smear = REGIONS[region]
    if kind == "r":
        center = np.average(unwrapped[SOLUTE], axis=0, weights=MASSES[SOLUTE])
        d = (x - center)[:, None] + np.array([n @ (box.edges * np.array(box.periodic)[:, None])
                                              for n in np.array(list(np.ndindex(9, 9, 9))) - 4])
        u = np.linalg.norm(d, axis=2).min(axis=1)[:, None]
    else:
        axis = "xyz".index(kind)
        length = box.edges[axis, axis]
        u = ((x - box.lo) @ np.linalg.inv(box.edges))[:, [axis]] * length
        if box.periodic[axis]:
            u = u + length * np.arange(-5, 6)
    low = -np.inf if (kind, lo) == ("r", 0.0) else lo
    return 0.5 * (erf((hi - u) / (2**0.5 * smear)) - erf((low - u) / (2**0.5 * smear))).sum(axis=1)


def coordination_numbers(box, x):
    """Return s_i of the first group for each kind."""
    result = {}
    for kind, (group, group2, *_) in KINDS.items():
        a = GROUPS[group]
        if kind == "matched":
            result[kind] = np.array([brute_force(box, x, LONG, a=None, pairs=np.array([pair]), image="minimum").value
                                     for pair in zip(a, GROUPS["right"])])
        elif group2:
            result[kind] = np.array([brute_force(box, x, SWITCH, a=np.array([i]), b=GROUPS[group2]).value for i in a])
        else:
            result[kind] = brute_force(box, x, SWITCH, a=a).atoms[a, 0]
    return result


def expected_values(box, x, unwrapped):
    s, values = coordination_numbers(box, x), {}
    for region in REGIONS:
        w = weights(box, x, unwrapped, region)
        for kind, (group, _, _, f, once, norm) in KINDS.items():
            of_group = w[GROUPS[group]]
            value = (of_group * f(s[kind])).sum() * (0.5 if once else 1)
            values[f"{kind}_{region}"] = value / of_group.sum() if norm == "mean" else value
    return values


class Values(unittest.TestCase):
    def check_setup_lines(self, box, text):
        """KOKKOS on a GPU evaluates regions there, and says so."""
        for ident in computes(box):
            kind, region = ident.rsplit("_", 1)
            line, function = re.search(rf"^Compute coord/gpu {ident}: ((?:host|cuda) .*)\n(?:  .*\n)*  (function .*)$", text,
                                       re.MULTILINE).groups()
            shape, lo, hi, smear = REGIONS[region]
            lower = 0 if shape == "r" else box.lo["xyz".index(shape)]
            self.assertEqual(re.search("within .*", function)[0], f"within {shape} {lo + lower:.10g} to {hi + lower:.10g}"
                             f"{' of the center of solute' if shape == 'r' else ''} smear {smear}")
            can_be_resident = kind not in ("allpairs", "matched")
            is_resident = coordtest.ON_KOKKOS_GPU and coordtest.DEVICE == "cuda" and can_be_resident
            self.assertEqual("resident on the GPU" in line, is_resident, line)
            self.assertEqual("copied through the host" in line, coordtest.ON_KOKKOS_GPU and not is_resident, line)

    def test_ranks(self):
        """S of each step of a run in which atoms cross the edges of regions, domains and the box."""
        for name, box in BOXES.items():
            rng = np.random.default_rng(len(name))
            x = coordtest.random_positions(rng, box, N, closest=0.3)
            for ranks in 1, 2, 4:
                ids = computes(box)
                lines = commands(box, x, ["newton off"] if ranks == 2 else [])
                lines += [f"compute {ident} {words}" for ident, words in ids.items()]
                lines += ["velocity all create 9.0 4711 loop all", "fix move all nve", "timestep 0.02",
                          *(["fix wall all wall/reflect ylo EDGE yhi EDGE zlo EDGE zhi EDGE"] if name == "open" else []),
                          "thermo_style custom step " + " ".join(f"c_{ident}" for ident in ids),
                          "thermo_modify format float %.17g norm no", "thermo 5", "dump d all custom 5 dump id x y z xu yu zu",
                          "dump_modify d format float %.17g sort id", "run 15"]
                run = coordtest.run_lammps(lines, ranks)
                for row, frame in enumerate(dumptest.read_dump(run.path("dump"))):
                    unwrapped = np.column_stack([frame.columns[c] for c in ("xu", "yu", "zu")])
                    expected = expected_values(frame.box, frame.x(), unwrapped)
                    for ident, value in expected.items():
                        self.assertGreater(abs(value), 1e-3, ident)
                        self.assertLess(abs(run.tables[0][f"c_{ident}"][row] / value - 1), coordtest.rounded(1e-10),
                                        f"{ident}, {name}, {ranks} ranks, row {row}")
                self.check_setup_lines(box, run.text)

    def test_biased_ranks(self):
        """Runs in which biases move the atoms of regions and their center. With KOKKOS, one rank has the center and its
        forces on the GPU alone, and others sum over ranks on the host."""
        box = BOXES["tilted"]
        x = coordtest.random_positions(np.random.default_rng(9), box, N, closest=0.6)
        idents, tables = ("more_shell", "square_ball"), []
        for ranks in 1, 2, 4:
            lines = commands(box, x)
            for ident in idents:
                lines += [f"compute {ident} {computes(box)[ident]}", f"fix {ident} all coord/bias c_{ident} harmonic k 20.0 s0 9.0",
                          f"fix_modify {ident} virial no"]
            run = coordtest.run_lammps(lines + [
                "velocity all create 1.0 4711 loop all", "fix move all nve", "timestep 0.005", "thermo 5",
                "thermo_style custom step " + " ".join(f"c_{ident}" for ident in idents),
                "thermo_modify format float %.17g norm no", "run 20"], ranks)
            is_resident = coordtest.ON_KOKKOS_GPU and coordtest.DEVICE == "cuda"
            self.assertEqual(run.text.count("copied to and from the GPU"), 2 if is_resident else 0)
            tables.append(np.array([run.tables[0][f"c_{ident}"] for ident in idents]))
            self.assertGreater(np.abs(tables[0][:, -1] - tables[0][:, 0]).min(), 0.1)
            self.assertLess(coordtest.error_of(tables[-1], tables[0]), coordtest.rounded(1e-9))

    def test_missing_flags(self):
        """A center whose image flags make it wider than the box gives a warning."""
        box = BOXES["orthogonal"]
        x = coordtest.random_positions(np.random.default_rng(9), box, N, closest=0.3)
        x[SOLUTE] = [3, 3, 3] + 0.125 * np.arange(len(SOLUTE))[:, None]
        run = coordtest.run_lammps(commands(box, x) + [
            "set atom 5 image 1 0 0", f"compute c {computes(box)['more_ball']}", "fix b all coord/bias c_c harmonic k 1 s0 1", "run 0"])
        self.assertIn("WARNING: Compute coord/gpu c: by image flags, an atom of group solute is 6.62736 away from the atom with the "
                      "smallest ID, and as nearest image 1.08253 at most - if the group is not that wide, image "
                      "flags are missing in the data or dump file: set them by set image; if it is, such as a long chain, all is right", run.text)


class Lammps(unittest.TestCase):
    """Tests with one LAMMPS in this process."""

    def start(self, box, x, computes_of_test):
        lmp = coordtest.start()
        self.addCleanup(lmp.close)
        shears = ["change_box all triclinic"] if coordtest.can_shear(box) and not box.tilted else []
        for line in [*commands(box, x), *shears, *(f"compute {ident} {words}" for ident, words in computes_of_test.items()),
                     "run 0"]:
            lmp.command(line)
        return lmp


# All derivatives that differences see go to 0 at dmax.
SMOOTH = 'switch custom 2.2 func "(1-x^2)^4" dmax 2.2'
ORDERS = {"orient": f"all coord/orientorder l 4 {SMOOTH} precision double norm mean function custom s^2",
          "dot": f"late coord/orientorder l 4 order dot {SMOOTH} precision double norm sum",
          "envsim": "all coord/envsim structure fcc 1.6 sigma 0.3 cutoff 10 precision double norm mean"}


class Derivatives(Lammps):
    @coordtest.not_where(coordtest.POSITION_ROUNDOFF > 0, "differences need positions in double")
    def test_differences(self):
        """dS/dx of atoms inside, outside and at the edges of regions and of the center's group, and W by six strains, which
        leave the region and the center of the box in place."""
        for name in "orthogonal", "tilted":
            box = BOXES[name]
            x = coordtest.random_positions(np.random.default_rng(5), box, N, closest=0.6)
            ids = computes(box, SMOOTH, SMOOTH.replace("2.2", "6.2"))
            for kind, words in ORDERS.items():
                ids.update({f"{kind}_{region}": f"{words} {region_words(box, region)}" for region in REGIONS})
            lmp = self.start(box, x, ids)
            gradients = {ident: coordtest.atoms_of(lmp, ident)[:, 1:4] for ident in ids}
            virials = {ident: coordtest.virial_of(lmp, ident) for ident in ids}
            atoms = [SOLUTE[0], SOLUTE[3], 20, 40, 45, 60, 80]

            def values():
                lmp.command("run 0 post no")
                return np.array([coordtest.scalar_of(lmp, ident) for ident in ids])

            position, strain = coordtest.differences(lmp, box, atoms, values, STEP, keeps_center=True)
            worst = 0.0
            for k, ident in enumerate(ids):
                with self.subTest(box=name, ident=ident):
                    self.assertGreater(np.abs(gradients[ident]).max(), 1e-3)
                    self.assertGreater(np.abs(virials[ident]).max(), 1e-3)
                    errors = [np.abs(position[:, :, k] - gradients[ident][atoms]).max() / np.abs(gradients[ident]).max(),
                              coordtest.error_of(-strain[:, k], virials[ident])]
                    worst = max(worst, *errors)
                    self.assertLess(max(errors), 1e-8)
                    if ident.endswith(("_ball", "_shell")):    # the center has the counterforce
                        total = np.abs(gradients[ident].sum(axis=0)).max()
                        self.assertLess(total, 1e-12 * np.abs(gradients[ident]).sum())
            print(f"{name}: largest error of a derivative {worst:.1e}")

    def test_everywhere(self):
        """In a region that contains all atoms, S, dS/dx and W are those without it; but not W if it is one period wide: it
        stays in place, and the box would not."""
        for name, lower, width in (("tilted", -2.3, 7.0), ("open", -3.0, 13.0)):
            box = BOXES[name]
            x = coordtest.random_positions(np.random.default_rng(6), box, N, closest=0.6)
            plain = {ident: words.split(" within")[0] for ident, words in computes(box).items() if ident.endswith("_wide")}
            plain.update(ORDERS)
            smear = width / 8 if box.periodic[2] else 0.3
            everywhere = f"within z {lower} {lower + width} smear {smear}"
            lmp = self.start(box, x, {**plain, **{f"{ident}_1": f"{words} {everywhere}" for ident, words in plain.items()}})
            for ident in plain:
                self.assertGreater(abs(coordtest.scalar_of(lmp, ident)), 1e-3, ident)
                for of in (coordtest.scalar_of, lambda *names: coordtest.atoms_of(*names)[:, 1:4],
                           *([] if box.periodic[2] else [coordtest.virial_of])):
                    self.assertLess(coordtest.error_of(of(lmp, f"{ident}_1"), of(lmp, ident)), 1e-12, ident)

    def test_empty_region(self):
        """Far from all atoms, S and dS/dx are 0, also if S is divided by the sum of the weights."""
        box = BOXES["open"]
        x = coordtest.random_positions(np.random.default_rng(6), box, N, closest=0.6)
        lmp = self.start(box, x, {norm: f"all coord/gpu {SMOOTH} norm {norm} within z 1000 1001 smear 0.1"
                                  for norm in ("sum", "mean")})
        for k, norm in enumerate(("sum", "mean")):
            self.assertEqual(coordtest.scalar_of(lmp, norm), 0)
            self.assertEqual(np.abs(coordtest.atoms_of(lmp, norm)[:, 1:4]).max(), 0)
            for line in f"fix b{norm} all coord/bias c_{norm} harmonic k 1.0 s0 1.0", f"fix_modify b{norm} virial no", "run 0":
                lmp.command(line)
            self.assertAlmostEqual(lmp.get_thermo("pe") * N, 0.5 * (k + 1))    # all biases at S = 0
            self.assertEqual(np.abs(coordtest.forces_of(lmp)).max(), 0)


class Biased(Lammps):
    IDS = "mean_once_narrow", "square_ball", "more_edge", "more_shell", "matched_shell", "dot_ball"

    def test_forces(self):
        """The force of a harmonic bias is -k (S - s0) dS/dx, also on the atoms of the center, and its virial is
        k (S - s0) W, in total and summed over atoms. With KOKKOS and without a virial, the host does not wait for S."""
        box = BOXES["tilted"]
        x = coordtest.random_positions(np.random.default_rng(7), box, N, closest=0.6)
        for ident in self.IDS:
            orders = {"dot_ball": f"{ORDERS['dot']} {region_words(box, 'ball')}"}
            lmp = self.start(box, x, {ident: {**computes(box), **orders}[ident]})
            s = coordtest.scalar_of(lmp, ident)
            for line in (f"fix b all coord/bias c_{ident} harmonic k 3.0 s0 {s - 0.4!r}",
                         "compute stress all stress/atom NULL fix", "compute sums all reduce sum c_stress[*]",
                         "thermo_style custom step c_sums[1] press pxx pyy pzz pxy pxz pyz", "run 0"):
                lmp.command(line)
            gradients, w = coordtest.atoms_of(lmp, ident)[:, 1:4], coordtest.virial_of(lmp, ident)
            self.assertGreater(min(np.abs(gradients).max(), np.abs(w).max()), 1e-3, ident)
            self.assertLess(coordtest.error_of(coordtest.forces_of(lmp), -1.2 * gradients), coordtest.rounded(1e-10), ident)
            pressures = [lmp.get_thermo("p" + c) * lmp.get_thermo("vol") for c in ("xx", "yy", "zz", "xy", "xz", "yz")]
            self.assertLess(coordtest.error_of(pressures, 1.2 * w), coordtest.rounded(1e-10), ident)
            sums = -np.ctypeslib.as_array(lmp.extract_compute("sums", 0, 1), (6,))
            self.assertLess(coordtest.error_of(sums, 1.2 * w), coordtest.rounded(1e-10), ident)
            for line in "thermo_style one", "fix_modify b virial no", "run 0":
                lmp.command(line)
            self.assertLess(coordtest.error_of(coordtest.forces_of(lmp), -1.2 * gradients), coordtest.rounded(1e-10), ident)

    def test_energy_is_conserved(self):
        """Also if atoms cross the edges of a region, whose center they move. Errors of the integrator fall with the square
        of the timestep."""
        box = BOXES["tilted"]
        x = coordtest.random_positions(np.random.default_rng(8), box, N, closest=0.6)
        drifts = []
        for steps, timestep in ((200, 0.002), (400, 0.001)):
            lmp = self.start(box, x, {"s": computes(box, SMOOTH, SMOOTH.replace("2.2", "6.2"))["square_ball"]})
            for line in ("velocity all create 1.0 17", f"timestep {timestep}", "fix n all nve",
                         f"fix b all coord/bias c_s harmonic k 20.0 s0 {coordtest.scalar_of(lmp, 's') + 1.0!r}",
                         "fix_modify b energy yes"):
                lmp.command(line)
            energies = []
            for _ in range(5):
                lmp.command(f"run {steps // 5}")
                energies.append(lmp.get_thermo("etotal"))
            drifts.append(np.abs(np.array(energies) - energies[0]).max())
        print(f"changes of the energy: {drifts}")
        self.assertGreater(drifts[0], 1e-7)
        if not coordtest.POSITION_ROUNDOFF:
            self.assertLess(drifts[1], drifts[0] / 3)


if __name__ == "__main__":
    unittest.main()
