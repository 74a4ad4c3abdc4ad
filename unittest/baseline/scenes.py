"""The cases of dump.py: LAMMPS commands only, so that they run on any build of GPUCOORD.

A scene is a system with a short run. Its members are the cases: commands that are added to it, and the
quantities to write. Members of one scene only observe; a command that changes the forces has a scene of
its own. '@D' stands for the keyword device and its value.
"""

import random


class Member:
    """name: name of the case. commands: commands before the run. of: the quantities to write, see Quantities in dump.py."""

    def __init__(self, name, commands, of):
        self.name, self.commands, self.of = name, commands, of


class Scene:
    """run: commands that move atoms, after which all quantities are written again; later: commands
    after them. in_run: whether computes are also evaluated at the steps of the run, for its output."""

    def __init__(self, setup, members, run=("run 10",), later=(), files=None, in_run=False):
        self.setup, self.members, self.run, self.later = setup, members, run, later
        self.in_run = in_run
        self.files = files or {}


# ---------------------------------------------------------------- systems

BOXES = {    # cells of the lattice, spacing, tilt, boundary
    "ortho": ((5, 5, 5), (1.16, 1.22, 1.3), (0, 0, 0), "p p p"),
    "tilted": ((5, 5, 5), (1.16, 1.22, 1.3), (1.7, -0.9, 1.1), "p p p"),
    "slab": ((5, 5, 5), (1.16, 1.22, 1.3), (0, 0, 0), "p p f"),
    "free": ((5, 5, 5), (1.16, 1.22, 1.3), (0, 0, 0), "f f f"),
    "large": ((8, 7, 7), (1.16, 1.22, 1.2), (0, 0, 0), "p p p"),
    "charges": ((5, 4, 4), (1.7, 1.75, 1.8), (0, 0, 0), "p p p"),
    "charges-tilted": ((5, 4, 4), (1.7, 1.75, 1.8), (1.5, -1.0, 2.0), "p p p"),
    "charges-free": ((5, 4, 4), (1.7, 1.75, 1.8), (0, 0, 0), "f f f"),
    "molecules": ((4, 4, 4), (1.9, 1.85, 1.95), (0, 0, 0), "p p p"),
    "molecules-tilted": ((4, 4, 4), (1.9, 1.85, 1.95), (1.2, 0.7, -0.8), "p p p"),
}


def create(box, style, ntypes, ghosts, before=(), shake=0.08):
    """Return commands up to the creation of atoms on a displaced lattice, with IDs 1, 2, ..., and their number."""
    cells, spacing, tilt, boundary = BOXES[box]
    rng = random.Random(box)
    length = [n * d for n, d in zip(cells, spacing)]
    edges = [(length[0], 0, 0), (tilt[0], length[1], 0), (tilt[1], tilt[2], length[2])]
    bounds = " ".join(f"0 {edge!r}" for edge in length)
    region = f"prism {bounds} {tilt[0]} {tilt[1]} {tilt[2]}" if any(tilt) else f"block {bounds}"
    lines = ["units lj", f"atom_style {style}", "atom_modify map array", f"boundary {boundary}", *before,
             f"region box {region} units box", f"create_box {ntypes} box"]
    made = 0
    for i in range(cells[0]):
        for j in range(cells[1]):
            for k in range(cells[2]):
                at = [(n + 0.5) / count for n, count in zip((i, j, k), cells)]
                x = [sum(f * edge[c] for f, edge in zip(at, edges)) + rng.uniform(-shake, shake)
                     for c in range(3)]
                kind = rng.randrange(ntypes) + 1
                lines.append(f"create_atoms {kind} single {x[0]!r} {x[1]!r} {x[2]!r} units box")
                made += 1
    return lines + ["neighbor 0.3 bin", "neigh_modify every 1 delay 0 check yes",
                    f"comm_modify cutoff {ghosts!r}"], made


MOTION = ["velocity all create 1.4 4711 loop geom", "timestep 0.003", "fix move all nve"]
OUTPUT = ["thermo 10", "thermo_style custom step pe ke press pxx pyy pzz pxy pxz pyz",
          "thermo_modify norm no"]


def liquid(box="ortho", ghosts=3.6, pair=None, before=(), motion=True, style="atomic"):
    lines, n = create(box, style, 3, ghosts, before)
    pair = pair or ["pair_style lj/cut 1.9", "pair_coeff * * 1.0 1.0", "pair_modify shift yes"]
    return [*lines, "mass * 1.0", *pair, "group a id 1:50", f"group b id 41:{n}", f"group c id 51:{n}",
            "group p1 id 1:20", "group p2 id 31:50", *(MOTION if motion else []), *OUTPUT]


# ---------------------------------------------------------------- switching functions

FUNCTIONS = {
    "rational-6-12": "rational 1.1 dmax 2.6",
    "rational-6-12-own-dmax": "rational 0.4",
    "rational-12-24": "rational 1.2 nn 12 mm 24 dmax 2.2",
    "rational-24-48": "rational 1.3 nn 24 mm 48 dmax 2.0",
    "rational-6-10": "rational 1.1 nn 6 mm 10 dmax 2.6",
    "rational-5-11": "rational 1.1 nn 5 mm 11 dmax 2.4",
    "rational-3-7": "rational 1.1 nn 3 mm 7 dmax 2.4",
    "rational-31-100-d0": "rational 0.8 nn 31 mm 100 d0 0.6 dmax 2.0",
    "rational-5.5-12.3": "rational 1.1 nn 5.5 mm 12.3 dmax 2.4",
    "rational-6-6.001": "rational 1.1 nn 6 mm 6.001 dmax 2.4 nostretch",
    "rational-nostretch": "rational 1.1 dmax 2.3 nostretch",
    "exp": "exp 0.7 dmax 2.4",
    "exp-d0": "exp 0.7 d0 0.9 dmax 2.4 nostretch",
    "gaussian": "gaussian 0.9 dmax 2.5",
    "smap": "smap 1.2 a 8 b 14 dmax 2.4",
    "smap-real": "smap 1.2 a 3.5 b 7.25 d0 0.2 dmax 2.4",
    "cubic": "cubic d0 0.9 dmax 1.7",
    "cubic-0": "cubic dmax 2.5",
    "tanh": "tanh 0.8 dmax 2.5",
    "cosinus": "cosinus 1.5",
    "cosinus-dmax": "cosinus 1.5 d0 0.4 dmax 1.7",
    "q": "q ref 0.8 beta 5.0 dmax 2.4",
    "q-lambda": "q ref 0.8 beta 5.0 lambda 1.5 d0 0.3 dmax 2.4 nostretch",
    "custom": 'custom 1.1 func "1/(1+x^6)" dmax 2.4',
    "custom-exp": 'custom 1.1 func "exp(-x*x)*(1+0.1*sin(x))" dmax 2.4 nostretch',
}
PRECISIONS = "double", "mixed", "single"


def variable(name, group, words, of="scalar vector atoms"):
    return Member(name, [f"compute v all coord/gpu {words} @D".replace(" all ", f" {group} ", 1)],
                  [("compute", "v", of)])


def coordination():
    """compute coord/gpu"""
    for precision in PRECISIONS:
        for engine, more in (("cells", ""), ("allpairs", " image minimum")):
            yield Scene(liquid(), [
                variable(f"coord/{engine}/{precision}/{name}", "all",
                         f"switch {words} engine {engine} precision {precision}{more}")
                for name, words in FUNCTIONS.items()], in_run=True)
    short, long = FUNCTIONS["rational-6-12"], "rational 1.1 nn 6 mm 10 dmax 3.2"
    files = {"pairs": file_of_pairs()}
    groups = {
        "all": ("all", ""), "a-b": ("a", "group2 b"), "a-c": ("a", "group2 c"), "a-a": ("a", "group2 a"),
        "a": ("a", ""), "pairs": ("p1", "pairs p2"), "pairs-file": ("p1", "pairs/file pairs"),
        "coeff": ("all", "coeff 1 2 cubic d0 0.8 dmax 1.8 coeff 3 * gaussian 0.7 dmax 2.2 "
                         "coeff 2 3 rational 0.9 nn 8 mm 12 dmax 2.1"),
        "coeff-a-b": ("a", "group2 b coeff 1 1 tanh 0.7 dmax 2.2 coeff 2* 2 exp 0.6 dmax 2.0"),
        "coeff-pairs": ("p1", "pairs p2 coeff 1 * cosinus 1.4"),
        "coeff-custom": ("all", 'coeff 1 2 custom 1.0 func "1/(1+x^4)" dmax 2.0'),
    }
    for box in "ortho", "tilted", "slab", "free":
        members = []
        for precision in ("double", "mixed"):
            for engine in "cells", "allpairs", "auto":
                image = " image minimum" if engine == "allpairs" else ""
                for name, (group, words) in groups.items():
                    pairs = "pairs" in name
                    if pairs and engine != "auto" or not pairs and engine == "auto":
                        continue
                    norm = "mean" if precision == "mixed" else "sum"
                    of = "scalar vector atoms" if box != "slab" else "scalar vector"
                    members.append(variable(
                        f"coord/{box}/{engine}/{precision}/{norm}/{name}", group,
                        f"{words} switch {short} engine {engine} precision {precision} norm {norm}"
                        + ("" if pairs else image), of))
        yield Scene(liquid(box), members, files=files, in_run=True)
    for box in "ortho", "tilted":
        yield Scene(liquid(box), [
            variable(f"coord/images/{box}/{name}", "all", f"switch {words} precision {precision}")
            for precision in ("double", "mixed")
            for name, words in ((f"all-{precision}", f"{long} image all"),
                                (f"minimum-{precision}", f"{long} image minimum"),
                                (f"INF-{precision}", "rational 1.1 dmax INF image minimum"),
                                (f"check-{precision}", f"{short} check 2 1e-3"))])
    yield Scene(liquid("large", ghosts=3.1), [
        variable(f"coord/large/{engine}/{precision}", "all",
                 f"switch cubic d0 0.5 dmax 2.7 engine {engine} precision {precision}", "scalar vector")
        for precision in PRECISIONS for engine in ("cells", "allpairs")], in_run=True)
    dynamic = ["region half block INF 4.0 INF INF INF INF units box",
               "group moving dynamic all region half every 1"]
    yield Scene([*liquid(), *dynamic], [
        variable(f"coord/dynamic-group/{engine}", "moving",
                 f"group2 all switch {short} engine {engine} precision double")
        for engine in ("cells", "allpairs")], in_run=True)
    squeeze = ["fix squeeze all nph iso 1.0 5.0 0.5", "unfix move"]
    yield Scene([*liquid(), *squeeze], [
        variable("coord/box-changes/cells", "all", f"switch {short} precision double"),
        variable("coord/box-changes/mixed", "all", f"switch {short} precision mixed")], in_run=True)


def file_of_pairs():
    rng = random.Random(7)
    pairs = [(rng.randrange(20) + 1, rng.randrange(120) + 1) for _ in range(60)]
    return "".join(f"{i} {j}\n" for i, j in pairs if i != j)


EXPRESSIONS = {    # expressions in the variables s, t and u
    "twice": '"2*a" a c_s',
    "difference": '"a - b" a c_s b c_t',
    "ratio": '"a*b/(1 + c)" a c_s b c_t c c_u',
    "functions": '"exp(-a/10)*sqrt(b) + 0.1*a" a c_t b c_s',
    "power": '"(a/b)^2.5" a c_s b c_u',
    "larger": '"max(a, b)" a c_s b c_t',
    "nested": '"d*d/c - d" d c_d c c_u',
}


def expressions():
    """compute coord/custom"""
    for box in "ortho", "tilted":
        for precision in PRECISIONS:
            variables = [
                f"compute s a coord/gpu group2 c norm mean switch cubic d0 0.7 dmax 1.9 precision {precision} @D",
                f"compute t all coord/gpu norm mean switch rational 1.1 dmax 2.6 precision {precision} @D",
                f"compute u p1 coord/gpu pairs p2 switch rational 1.1 dmax 2.6 precision {precision} @D"]
            # The scene renames members by appending numbers, but not inside expressions: d and its parent are not both members.
            child = 'compute d all coord/custom "a - b" a c_s b c_t'
            yield Scene([*liquid(box), *variables, child], [
                Member(f"custom/{box}/{precision}/{name}", [f"compute v all coord/custom {words}"],
                       [("compute", "v", "scalar vector gradients")])
                for name, words in EXPRESSIONS.items()], in_run=True)


# ---------------------------------------------------------------- biases

ONE = ["compute s a coord/gpu group2 c norm mean switch cubic d0 0.7 dmax 1.9 precision double @D"]
TWO = ONE + ["compute t all coord/gpu norm mean switch rational 1.1 dmax 2.6 precision double @D"]
METAD_ONE = "metad sigma 0.02 height 0.3 pace 2"
METAD_TWO = "metad sigma 0.02 0.03 height 0.3 pace 2"
BIASES = {
    "harmonic": "c_s harmonic k 200.0 s0 1.2",
    "harmonic-two": "c_s c_t harmonic k 200.0 150.0 s0 1.2 1.3",
    "linear": "c_s linear k 20.0",
    "linear-two": "c_s c_t linear k 20.0 -15.0 s0 1.2 1.3",
    "moving": "c_s moving k 100.0 s0 0.8 s0/stop 1.6 k/stop 300.0 steps 8",
    "moving-two": "c_s c_t moving k 100.0 50.0 s0 0.8 1.6 s0/stop 1.6 1.2 steps 20",
    "moving-variable": "c_s moving k v_k s0 v_s0",
    "wall-upper": "c_s wall/upper k 50.0 s0 0.9",
    "wall-upper-offset": "c_s wall/upper k 50.0 s0 1.3 exponent 4 offset 0.5",
    "wall-lower": "c_s wall/lower k 50.0 s0 1.3",
    "wall-lower-real": "c_s wall/lower k 5.0 s0 1.3 exponent 2.5",
    "wall-two": "c_s c_t wall/upper k 50.0 20.0 s0 0.9 1.2 exponent 2 3",
    "stride": "c_s harmonic k 200.0 s0 1.2 stride 2",
    "metad": f"c_s {METAD_ONE} file HILLS",
    "metad-two": f"c_s c_t {METAD_TWO} file HILLS",
    "metad-well-tempered": f"c_s {METAD_ONE} biasfactor 8 temp 1.4 file HILLS",
    "metad-two-well-tempered": f"c_s c_t {METAD_TWO} biasfactor 8 temp 1.4 file HILLS",
    "metad-interval": f"c_s {METAD_ONE} interval 0.99 1.1 file HILLS",
    "metad-grid": f"c_s {METAD_ONE} grid 0 3 bins 320 file HILLS write_grid 10 GRID",
    "metad-grid-temp": f"c_s {METAD_ONE} temp 1.4 grid 0 3 bins 320 file HILLS",
    "metad-grid-well-tempered":
        f"c_s {METAD_ONE} biasfactor 8 temp 1.4 grid 0 3 bins 320 file HILLS write_grid 10 GRID",
    "metad-grid-interval": f"c_s {METAD_ONE} interval 0.99 1.1 grid 0 3 bins 320 file HILLS",
    "metad-grid-two": "c_s c_t metad sigma 0.1 0.1 height 0.3 pace 2 grid 0 3 0 4 bins 64 80 "
                      "file HILLS write_grid 10 GRID",
    "metad-grid-two-well-tempered": "c_s c_t metad sigma 0.1 0.1 height 0.3 pace 2 biasfactor 8 temp 1.4 "
                                    "grid 0 3 0 4 bins 64 80 file HILLS",
    "opes": "c_s opes barrier 9 temp 1.4 sigma 0.02 pace 2 file HILLS",
    "opes-two": "c_s c_t opes barrier 9 temp 1.4 sigma/adaptive 4 pace 2 file HILLS",
    "opes-explore": "c_s opes/explore barrier 9 temp 1.4 sigma 0.02 pace 2 file HILLS",
}
VARIABLES = ["variable k equal 100+10*step", "variable s0 equal 0.9+0.03*step"]
STRESS = ["compute st all stress/atom NULL virial", "compute pea all pe/atom",
          "compute vir all pressure NULL virial"]
TALLIES = [("compute", "st", "array6"), ("compute", "pea", "peratom"), ("compute", "vir", "scalar vector")]
MOVED = [("thermo",), ("forces",), ("positions",)]


def bias(name, words, computes, setup=None, more=(), of=(), **settings):
    files = [("file", file) for file in ("HILLS", "GRID") if file in words]
    seen = [("compute", "s", "scalar vector")]
    seen += [("compute", "t", "scalar vector")] if "c_t" in words else []
    commands = [*VARIABLES, *computes, f"fix bias all coord/bias {words}", *STRESS, *more]
    return Scene(setup or liquid(), [Member(
        f"bias/{name}", commands, [("fix", "bias"), *seen, *TALLIES, *MOVED, *of, *files])], **settings)


def biases():
    """fix coord/bias"""
    for name, words in BIASES.items():
        yield bias(name, words, TWO)
    for engine in "cells", "allpairs":
        image = " image minimum" if engine == "allpairs" else ""
        for precision in "mixed", "single":
            yield bias(f"{engine}-{precision}", "c_s c_t harmonic k 200.0 150.0 s0 1.2 1.3", [
                f"{line} engine {engine}{image}".replace("precision double", f"precision {precision}")
                for line in TWO])
    yield bias("pairs", "c_s harmonic k 20.0 s0 1.4", [
        "compute s p1 coord/gpu pairs p2 switch rational 1.1 dmax 2.6 precision double @D"])
    yield bias("coeff", "c_s harmonic k 2.0 s0 140.0", [
        "compute s all coord/gpu switch rational 1.1 dmax 2.6 coeff 1 2 cubic dmax 1.8 "
        "coeff 3 3 tanh 0.7 dmax 2.2 precision double @D"])
    yield bias("custom", "c_s harmonic k 2.0 s0 140.0", [
        'compute s all coord/gpu switch custom 1.1 func "1/(1+x^6)" dmax 2.4 precision double @D'])
    expressions = [*TWO, 'compute e all coord/custom "a - b" a c_s b c_t',
                   'compute g all coord/custom "exp(-e*e)*b" e c_e b c_t']
    of = [("compute", ident, "scalar vector gradients") for ident in "eg"]
    for name, words in (("harmonic", "c_e harmonic k 200.0 s0 -0.3"),
                        ("nested", "c_g c_s moving k 100.0 50.0 s0 0.8 1.0 s0/stop 1.6 1.2 steps 8"),
                        ("parent-and-child", "c_e c_t harmonic k 200.0 150.0 s0 -0.3 1.3"),
                        ("metad", f"c_g {METAD_ONE} file HILLS")):
        yield bias(f"expression-{name}", words, expressions, of=of)
    yield bias("expression-tilted", "c_g harmonic k 200.0 s0 1.2", expressions, liquid("tilted"), of=of)
    yield bias("tilted", "c_s c_t harmonic k 200.0 150.0 s0 1.2 1.3", TWO, liquid("tilted"))
    second = ["fix wall all coord/bias c_s wall/upper k 50.0 s0 0.9",
              f"fix hills all coord/bias c_t {METAD_ONE} grid 0 4 bins 420 file HILLS2"]
    yield bias("three-fixes", "c_s harmonic k 200.0 s0 1.2", TWO, more=second,
               of=[("fix", "wall"), ("fix", "hills"), ("file", "HILLS2")])
    yield bias("defined-again", f"c_s {METAD_ONE} file HILLS", TWO, run=(
        "run 6", "unfix bias", f"fix bias all coord/bias c_s {METAD_ONE} file HILLS append yes", "run 6"))
    yield bias("energy-no", "c_s harmonic k 200.0 s0 1.2", TWO,
               more=["fix_modify bias energy no virial no"])
    yield bias("minimize-cg", "c_s harmonic k 200.0 s0 1.2", TWO, run=("minimize 0 1e-6 5 50",))
    yield bias("minimize-fire", "c_s moving k 100.0 s0 0.8 s0/stop 1.6 steps 8", TWO,
               run=("min_style fire", "minimize 0 1e-6 5 50"))
    yield bias("respa", "c_s metad sigma 0.02 height 0.3 pace 2 file HILLS", TWO,
               run=("run_style respa 3 2 2 pair 1", "run 5"))
    yield bias("respa-inner", "c_s harmonic k 200.0 s0 1.2", TWO, more=["fix_modify bias respa 1"],
               run=("run_style respa 3 2 2 pair 2", "run 5"))
    yield bias("nph", "c_s c_t harmonic k 200.0 150.0 s0 1.2 1.3", TWO, liquid("tilted"),
               more=["unfix move", "fix move all nph tri 1.0 1.0 0.5"])
    yield bias("run-twice", f"c_s {METAD_ONE} file HILLS", TWO, run=("run 4", "run 0", "run 4"))


# ---------------------------------------------------------------- pair style coord

TYPES = ["pair_coeff 1 1 8.0 gaussian 0.7 dmax 2.2 nostretch", "pair_coeff 2 2 -1.5 rational 1.0 dmax 2.3",
         "pair_coeff 3 3 5.0 cubic d0 0.3 dmax 1.6", "pair_coeff 1 2 3.0 tanh 0.8 dmax 2.0",
         "pair_coeff 1 3 2.5 cosinus 1.6", "pair_coeff 2 3 -1.0 q ref 0.7 beta 6.0 dmax 2.0"]
MIXED = ["pair_coeff 1 1 8.0 gaussian 0.7 dmax 2.2 nostretch",
         "pair_coeff 2 2 6.0 gaussian 0.6 dmax 2.0 nostretch",
         "pair_coeff 3 3 5.0 gaussian 0.5 dmax 1.8 nostretch"]


def pair_case(name, pair, box="ortho", more=(), of=(), **settings):
    return Scene(liquid(box, pair=pair), [Member(f"pair/{name}", [*STRESS, *more],
                                                 [*TALLIES, *MOVED, *of])], **settings)


def pairs():
    """pair_style coord"""
    for name, words in FUNCTIONS.items():
        engine = "neigh" if len(name) % 2 else "cells"
        own_end = "dmax" in words or words.split()[0] in ("rational", "cosinus")
        assert own_end, name
        yield pair_case(f"function/{name}", [f"pair_style coord engine {engine} @D",
                                             f"pair_coeff * * 4.0 {words}"])
    for engine in "cells", "neigh", "auto":
        for precision in PRECISIONS:
            style = f"pair_style coord engine {engine} precision {precision} @D"
            yield pair_case(f"types/{engine}/{precision}", [style, *TYPES])
            yield pair_case(f"tilted/{engine}/{precision}", [style, *TYPES], "tilted")
    for rule in "geometric", "arithmetic", "sixthpower":
        yield pair_case(f"mix/{rule}", ["pair_style coord @D", *MIXED, f"pair_modify mix {rule} shift yes"])
    yield pair_case("hybrid-overlay", [
        "pair_style hybrid/overlay lj/cut 1.9 coord @D", "pair_coeff * * lj/cut 1.0 1.0",
        "pair_coeff 1 2 coord -2.0 cubic d0 0.9 dmax 1.8", "pair_coeff 2 3 coord 1.0 rational 1.0 dmax 2.0"])
    yield pair_case("hybrid", [
        "pair_style hybrid lj/cut 1.9 coord @D", "pair_coeff * * lj/cut 1.0 1.0",
        "pair_coeff 1 2 coord 5.0 cubic d0 0.3 dmax 1.8", "pair_coeff 1 1 coord 8.0 gaussian 0.7 dmax 2.0"])
    yield pair_case("group-group", ["pair_style coord engine neigh @D", *TYPES],
                    more=["compute gg a group/group c"], of=[("compute", "gg", "scalar vector3")])
    yield pair_case("adapt", ["pair_style coord @D", *TYPES],
                    more=["variable e equal 4+0.5*step", "fix adapt all adapt 1 pair coord epsilon 1 2 v_e"])
    yield pair_case("respa", ["pair_style coord engine neigh @D", *TYPES],
                    run=("run_style respa 2 2 inner 1 0.8 1.0 outer 2", "run 5"))
    yield pair_case("exclude", ["pair_style coord engine neigh @D", *TYPES],
                    more=["neigh_modify exclude type 1 2"])
    yield pair_case("minimize", ["pair_style coord @D", *TYPES], run=("minimize 0 1e-6 5 50",))
    yield pair_case("free", ["pair_style coord @D", *TYPES], "free")
    yield pair_case("with-bias", ["pair_style coord @D", *TYPES],
                    more=[*ONE, "fix bias all coord/bias c_s harmonic k 100.0 s0 1.2"],
                    of=[("fix", "bias"), ("compute", "s", "scalar")])


# ---------------------------------------------------------------- rigid molecules

COMPONENTS = """# UNITS: lj
component all
mass 2.0
inertia 0.4 0.5 0.7
centre 0.1 0.2 -0.15 0.8 0.9
centre -0.2 0.05 0.25 1.3 0.7
charge 0.15 -0.1 0.2 0.6
charge -0.1 0.2 -0.05 -0.6
dipole 0.05 0.1 0.2 0.3 -1.2 0.5 0.35
dipole -0.1 -0.2 0.1 1.0 0.4 0.2 0.2
quadrupole -0.15 0.1 0.05 0.2 0.7 -0.4 0.3
component linear
mass 1.5
inertia 0.3 0.3 0
centre 0 0 0.3 1.0 0.8
centre 0 0 -0.3 1.0 0.8
quadrupole 0 0 0 0 0 1 -0.4
component polar
mass 1.2
inertia 0.2 0.25 0.3
centre 0 0.05 0 0.9 1.0
dipole 0 0.1 0.05 0 1 0.3 0.5
component atom
mass 1.0
centre 0 0 0 1.1 0.95
component two
mass 1.0
inertia 0.2 0.2 0
centre 0 0 0.25 1.0 0.9
centre 0 0 -0.25 1.0 0.9
"""
COEFFICIENTS = ["pair_coeff * * components all linear polar", "pair_coeff 1 2 mix 0.9 1.05",
                "pair_coeff 2 3 mix 0.8 0.95"]
TURNED = [("torques",), ("angular momenta",), ("quaternions",)]


def molecules(style, coefficients=COEFFICIENTS, box="molecules", ntypes=3, after=()):
    lines, _ = create(box, "ellipsoid", ntypes, 3.4)
    return [*lines, f"pair_style {style}", *coefficients, *after, "set_multisite all",
            "set group all quat/random 4711", "timestep 0.002", "velocity all create 1.0 4711 loop geom",
            "fix move all nve/asphere", "compute quat all property/atom quatw quati quatj quatk",
            *OUTPUT[:1], "thermo_style custom step pe ke press pxx pyy pzz pxy pxz pyz evdwl ecoul etail",
            *OUTPUT[2:]]


def multisite(name, setup, more=(), of=(), **settings):
    return Scene(setup, [Member(f"multisite/{name}", [*STRESS, *more],
                                [*TALLIES, *MOVED, *TURNED, ("molecules",), *of])],
                 files={"components": COMPONENTS}, **settings)


def multisites():
    """pair_style multisite, set_multisite, fix multisite/linear"""
    linear = ["fix line all multisite/linear"]
    for precision in "double", "mixed":
        for words in ("", "cutoff site", "shift yes", "cutoff site shift yes", "rf 3.5", "rf inf tail yes",
                      "cutoff site tail yes"):
            name = words.replace(" ", "-") or "default"
            yield multisite(f"{name}/{precision}",
                            molecules(f"multisite 2.2 2.8 {words} precision {precision} @D"), linear)
    for box in "molecules", "molecules-tilted":
        yield multisite(f"check/{box}", molecules("multisite 2.2 2.8 rf inf precision double check 2 1e-9 @D",
                                                  box=box), linear)
    for number, component in enumerate("all linear polar atom two".split()):
        more = linear if component in ("linear", "two") else ()
        for precision in "double", "mixed":
            yield multisite(f"one/{component}/{precision}", molecules(
                f"multisite 2.4 precision {precision} @D", [f"pair_coeff * * components {component}"],
                ntypes=1), more)
    yield multisite("hybrid", molecules(
        "hybrid multisite 2.2 @D lj/cut 2.2", ["pair_coeff * * multisite components all linear NULL",
                                            "pair_coeff 1*2 3 lj/cut 1.0 0.9", "pair_coeff 3 3 lj/cut 1.0 1.0",
                                            "set type 3 shape 1 1 1", "set type 3 mass 1.0"]), linear)
    yield multisite("pair-shift", molecules("multisite 2.2 shift pair precision double @D",
                                            after=["pair_modify shift yes"]), linear)
    yield multisite("langevin", molecules("multisite 2.2 2.8 precision double @D"), [
        "fix bath all langevin 1.0 1.0 0.5 4711 angmom 1.0", *linear])
    yield multisite("no-linear", molecules("multisite 2.2 2.8 precision double @D"))
    yield multisite("nvt", molecules("multisite 2.2 2.8 precision double @D"), [
        "unfix move", "fix move all nvt/asphere temp 1.0 1.0 0.5", *linear])
    yield multisite("bias", molecules("multisite 2.2 2.8 precision double @D"), [
        *linear, "compute s all coord/gpu switch cubic d0 1.0 dmax 2.2 precision double @D",
        "fix bias all coord/bias c_s harmonic k 1.0 s0 100.0"], [("fix", "bias")])


# ---------------------------------------------------------------- maps of potentials

def charged(box="charges", ghosts=4.5, units=True):
    lines, n = create(box, "charge", 2, ghosts)
    rng = random.Random(3)
    charges = [round(rng.uniform(-1, 1), 3) for _ in range(n - 1)]
    charges.append(-sum(charges))
    lines += [f"set atom {k + 1} charge {q!r}" for k, q in enumerate(charges)]
    return [*lines, "mass * 1.0", "pair_style lj/cut 2.0", "pair_coeff * * 1.0 1.2", "pair_modify shift yes",
            "group ions id 1:40", "region part block INF INF INF INF 0.0 2.0 units box", *MOTION, *OUTPUT]


MAPS = {
    "cut": "kernel cut", "smooth": "kernel smooth", "taylor": "kernel taylor",
    "zero": "overlap zero 0.7", "soft": "overlap soft 0.9", "soft-taylor": "kernel taylor overlap soft 0.9",
    "soft-cut": "kernel cut overlap soft 0.9",
    "corner": "align corner", "dielectric": "dielectric 2.5", "kT": "units kT temp 1.3",
    "reference": "reference part", "field-cut": "field yes kernel cut",
    "field-smooth": "field yes", "field-taylor": "field yes kernel taylor",
    "field-soft": "field yes overlap soft 0.9", "field-zero": "field yes overlap zero 0.7",
    "fixed": "bins fixed 1.5 8", "fixed-few": "bins fixed 2.0 2 field yes",
    "fixed-host": "bins fixed 2.0 2 overflow host",
}


def potential(name, words, group="all", grid="8 7 6", cutoff="3.2"):
    fields = ["phi"]
    fields += ["efield[*]"] if "field yes" in words else []
    fields += ["near", "far"] if "far fft" in words else []
    reach = f"cutoff {cutoff} " if cutoff else ""
    device = "device host" if "precision single" in words else "@D"    # a GPU has no single
    return Member(f"potential/{name}", [f"compute p {group} potential/grid {grid} {reach}{words} {device}"],
                  [("grid", "compute", "p", fields), ("compute", "p", "peratom")])


def potentials():
    """compute potential/grid, fix ave/potential/grid, write_grid"""
    for box in "charges", "charges-tilted", "charges-free":
        for precision in PRECISIONS:
            if box != "charges" and precision == "single":
                continue
            yield Scene(charged(box), [potential(f"{box}/{precision}/{name}", f"{words} precision {precision}")
                                       for name, words in MAPS.items()])
    for precision in "double", "mixed":
        yield Scene(charged(), [potential(f"group/{precision}", f"precision {precision}", "ions"),
                                potential(f"fine/{precision}", f"field yes precision {precision}", grid="20 18 17"),
                                potential(f"one/{precision}", f"precision {precision}", grid="1 1 1")])
        yield Scene(charged("charges-free"), [
            potential(f"direct/{precision}", f"kernel direct field yes precision {precision}", cutoff=""),
            potential(f"direct-soft/{precision}", f"kernel direct overlap soft 0.9 precision {precision}", cutoff="")])
        for box in "charges", "charges-tilted":
            yield Scene(charged(box), [
                potential(f"far/{box}/{precision}/{name}", f"far fft {words} precision {precision}")
                for name, words in (("3", "1e-3"), ("5", "1e-5 field yes"), ("corner", "1e-4 align corner"),
                                    ("soft", "1e-4 overlap soft 0.9"), ("reference", "1e-4 reference part"))])
    mean = ["compute p all potential/grid 8 7 6 cutoff 3.2 precision {} @D", "fix mean all ave/potential/grid 2 p"]
    later = ["write_grid f_mean:grid:data mean.dx", "write_grid c_p:grid:phi phi.cube atoms ions"]
    for precision in "double", "mixed":
        yield Scene(charged(), [Member(
            f"ave/potential/grid/{precision}", [line.format(precision) for line in mean],
            [("fix", "mean"), ("grid", "fix", "mean", ["data"]), ("file", "mean.dx"), ("file", "phi.cube")])],
            later=later)
    yield Scene(charged(), [Member(
        "ave/potential/grid/far", [
            "compute p all potential/grid 8 7 6 cutoff 3.2 far fft 1e-4 precision double @D", mean[1]],
        [("fix", "mean"), ("grid", "fix", "mean", ["data"]), ("file", "mean.dx"), ("file", "phi.cube")])],
        later=later)


def all_scenes():
    for part in coordination, expressions, biases, pairs, multisites, potentials:
        yield from part()
