"""Each block of LAMMPS input in README.md, examples/README.md and doc/ runs line by line in a small
system. Each bias in a block has forces on atoms within a few steps, and each variable of a bias has a
gradient. SYSTEMS lists the system of each block: a new block needs an entry there."""
# KOKKOS on a GPU: newton on

import glob
import itertools
import os
import re
import shutil
import tempfile
import textwrap
import unittest
from dataclasses import dataclass, field

import numpy as np

import coordtest
import plumedtest

REPOSITORY = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), *[os.pardir] * 3))
PAGES = ["README.md", "examples/README.md"]
for pattern in "doc/*.md", "doc/dev/**/*.md", "doc/src/*.rst":
    PAGES += sorted(os.path.relpath(path, REPOSITORY)
                    for path in glob.glob(os.path.join(REPOSITORY, pattern), recursive=True))

# A block without a language is LAMMPS input if a line begins with one of these commands.
COMMANDS = ("atom_style", "comm_modify", "compute", "create_atoms", "dump", "fix", "group", "kspace_style", "pair_coeff",
            "pair_style", "plugin", "read_data", "run", "set_multisite", "thermo_style", "units", "variable", "write_grid")
INPUT = re.compile(rf"^(?:{'|'.join(COMMANDS)}) ", re.MULTILINE)

PACE = 5             # timesteps between hills and kernels, which the pages deposit every 500 steps
STEPS = 4 * PACE     # within which a bias has forces
SMALLEST = 1e-4      # of the largest force of a bias, and of dS/dx; in the units of the system


# ---------------------------------------------------------------- blocks

@dataclass
class Block:
    """line: of the page. language: None in a page in which blocks name none."""
    line: int
    language: str
    text: str


def markdown_blocks(text):
    for found in re.finditer(r"^```(.*)\n((?:.*\n)*?)^```$", text, re.MULTILINE):
        yield Block(text.count("\n", 0, found.start()) + 1, found[1] or None, found[2])


def rst_blocks(text):
    """Return blocks with a language, except those of the section Syntax, which are no input."""
    lines, section = text.split("\n"), None
    for k, line in enumerate(lines):
        if k and lines[k - 1] and re.fullmatch(r'([-=^"])\1+', line):
            section = lines[k - 1]
        found = re.fullmatch(r"( *)\.\. code-block:: (\S+)", line)
        if found and section != "Syntax":
            inside = lambda text: not text or text.startswith(found[1] + " ")
            body = textwrap.dedent("\n".join(itertools.takewhile(inside, lines[k + 1:]))).strip("\n")
            yield Block(k + 1, found[2], body + "\n")


def inputs_of(page):
    """Return the blocks of a page that contain LAMMPS input. Of Python, return the strings that are
    commands."""
    with open(os.path.join(REPOSITORY, page)) as file:
        text = file.read()
    if page.endswith(".rst"):
        return [block for block in rst_blocks(text) if block.language == "LAMMPS"]
    found = []
    for block in markdown_blocks(text):
        if block.language in (None, "python") and "lmp.command" in block.text:
            strings = re.findall(r'lmp\.command(?:s_string)?\((?:"""(.*?)"""|"(.*?)")\)', block.text, re.DOTALL)
            found.append(Block(block.line, "LAMMPS", "".join(textwrap.dedent(a or b).strip("\n") + "\n" for a, b in strings)))
        elif block.language is None and INPUT.search(block.text):
            found.append(block)
    return found


def commands_of(text):
    """Return the commands of an input, without comments. Other than LAMMPS, this does not keep a # in
    quotes."""
    text = re.sub(r"&[ \t]*\n", " ", text)
    lines = [re.sub(r"\s*#.*", "", line).strip() for line in text.splitlines()]
    return [line for line in lines if line]


# ---------------------------------------------------------------- systems

# Na+ (type 1) with six oxygens (type 2) at 2.3 to 2.5 A, and the next ones beyond 4 A: S of a
# switching function that falls between the shells, from 2.9 to 3.5 A, is exactly 6, without a force.
CENTER = 3 * 3.1
SHELL = [np.array(v) * r + CENTER for v, r in zip([*np.eye(3).tolist(), *(-np.eye(3)).tolist()],
                                                   [2.45, 2.3, 2.5, 2.35, 2.5, 2.4])]
WATER = f"""
units real
atom_modify map array
lattice sc 3.1
region box block 0 7 0 7 0 7
create_box 4 box
mass 1 22.99
mass 2*4 16.0
create_atoms 2 box
region near sphere {CENTER} {CENTER} {CENTER} 3.7 units box
delete_atoms region near
reset_atoms id
create_atoms 1 single {CENTER} {CENTER} {CENTER} units box
{"".join("create_atoms 2 single {} {} {} units box{}".format(*p, chr(10)) for p in SHELL)}
group na type 1
group shell id > 337
group far id < 337
set group far type/fraction 3 0.2 4711
set group far type/fraction 4 0.2 4712
group ow type 2
pair_style lj/cut 8.0
pair_coeff * * 0.155 3.166
pair_coeff 1 2 5.0 2.138
velocity all create 300 4713
fix move all nve
"""
# More names for parts of it.
PARTS = """
group protein id < 50
group ligand id 50:100
group donors id 1:20
group acceptors id 21:40
group zn type 3
group site type 2 4
group o union na ow
group h type 4
"""
DONORS = """
group h type 1
group donor id 338:340
group acceptor id 341:343
"""
# Atoms that are not in line.
TORSIONS = """
displace_atoms all random 0.2 0.2 0.2 4711
minimize 0 0 20 40
group solute id 1:10
group membrane id 100:130
group ion id 1
"""
# Atoms next to each other, whose data file has no image flags.
MOLECULE = """
group polymer id 1:20
group backbone id 1 4 7 10
set group all image 0 0 0
"""
IONS_AND_SLAB = """
units real
atom_style charge
atom_modify map array
lattice sc 6.2
region box block 0 24.8 0 24.8 0 60 units box
region slab block 0 24.8 0 24.8 20 40 units box
create_box 2 box
create_atoms 2 region slab
set group all type/subset 1 16 4711
mass 1 22.99
mass 2 35.45
set type 1 charge 0.6
set type 2 charge -0.3
pair_style zero 8.0
pair_coeff * *
displace_atoms all random 0.4 0.4 0.4 4711 units box
group ions type 1
group solute id 1:10
fix move all nve
"""


def particles(units, lattice, edge, cutoff, range, displaced, more):
    """Return the commands of Lennard-Jones particles of two types. range: that of ghost atoms."""
    return f"""
units {units}
atom_modify map array
lattice {lattice}
region box block 0 {edge} 0 {edge} 0 {edge}
create_box 2 box
create_atoms 1 box
set group all type/fraction 2 0.5 4711
displace_atoms all random {displaced} {displaced} {displaced} 4712 units box
mass * 27.0
{cutoff}
comm_modify cutoff {range}
group na type 1
group cl type 2
fix move all nve
{more}
"""


LJ = "pair_style lj/cut 2.5\npair_coeff * * 1.0 1.0"
CRYSTAL = particles("lj", "fcc 0.9", 5, LJ, 4.2, 0.05, "velocity all create 0.7 4713")
FLUID = particles("lj", "sc 0.5", 12, LJ, 9.0, 0.2, "velocity all create 1.0 4713")
METAL = particles("metal", "fcc 4.05", 5, "pair_style lj/cut 6.0\npair_coeff * * 0.4 2.62", 10.0, 0.1,
                  "velocity all create 900 4713\ngroup oxygen id 1:300")
NO_STYLE = particles("lj", "sc 0.8", 6, "", 4.0, 0.05, "")
NO_STYLE_REAL = particles("real", "sc 3.1", 6, "", 12.5, 0.1, "")
VECTORS = """1.59 1.59 1.59
-1.59 -1.59 1.59
1.59 -1.59 -1.59
-1.59 1.59 -1.59

-1.59 -1.59 -1.59
1.59 1.59 -1.59
-1.59 1.59 1.59
1.59 -1.59 1.59
"""


def molecules(ntypes, more=""):
    return f"""
units real
atom_style ellipsoid
atom_modify map array
lattice sc 5.0
region box block 0 6 0 6 0 6
create_box {ntypes} box
create_atoms 1 box
set group all type/fraction {ntypes} 0.5 4711
displace_atoms all random 0.2 0.2 0.2 4712 units box
{more}
"""


ETHANE = """
pair_style multisite 12.0
pair_coeff * * molecules.multisite ethane
set_multisite all
set group all quat/random 4711
velocity all create 250 4712 rot no
"""
# The second fix of fix_coord_plumed.rst gives its variables other names.
TWO_NAMES = f"""s: EXTRACV NAME=s
diff: EXTRACV NAME=diff
OPES_METAD ARG=s,diff PACE={PACE} BARRIER=20 TEMP=300 SIGMA=0.1,0.1
"""
KERNEL = [("as diff plumedfile plumed.dat kernel /opt/plumed/lib/libplumedKernel.so",
           f"as diff plumedfile two_names.dat kernel {plumedtest.KERNEL}")]
DIFFERENCE = "compute d na coord/gpu group2 shell switch rational 2.0 dmax 5.0\n"


@dataclass
class Example:
    """before: commands of the system; one for each part if blank lines separate parts that are
    alternatives. changes: texts of the block that are replaced, such as numbers of steps. after:
    commands that follow each part."""
    before: object = ""
    changes: list = field(default_factory=list)
    after: str = ""


@dataclass
class Template:
    """A block that cannot run, and why."""
    reason: str


NO_LABELS = [("coeff Zn O", "coeff 3 2")] if coordtest.KOKKOS else []    # coordtest.NO_LABELS
ONE_RUN = [("ave/grid 10 100 1000", "ave/grid 1 2 2"), ("run 100000", "run 2"), ("run 10000 every 1000", "run 2 every 1")]
# The blocks of each page, in order.
SYSTEMS = {
    "README.md": [Example(changes=[("run 5000", "run 5")])],
    "examples/README.md": [
        Example(changes=[("atom_style ellipsoid\n...\n", molecules(2))]),
        Example(IONS_AND_SLAB, [("dump map all grid/vtk 1000", "dump map all grid/vtk 10"), ("run 1000", "run 10")]),
        Example(WATER)],
    "doc/install.md": [Template("<GPUCOORD> is a folder of the reader")] * 2,
    "doc/wheel.md": [Example(changes=[("run 100", "run 5")])],
    "doc/dev/adding-a-switching-function.md": [Template("GPUCOORD has no function lorentz")],
    "doc/src/Howto_multisite.rst": [
        Example(changes=[("run             2500", "run 5"), ("run             5000", "run 5")]),
        Example(molecules(1, ETHANE)),
        Example(molecules(1, ETHANE), [("ave/grid 10 50 500", "ave/grid 1 2 2"), ("dump cells all grid 500", "dump cells all grid 2"),
                                       ("f_cells:grid:data[*]\n", "f_cells:grid:data[*]\nrun 2\n")]),
        Example(molecules(1, ETHANE))],
    "doc/src/compute_coord_custom.rst": [Example(WATER + DONORS)],
    "doc/src/compute_coord_energy.rst": [Example(WATER)],
    "doc/src/compute_coord_envsim.rst": [Example(METAL)],
    "doc/src/compute_coord_geometry.rst": [Example(WATER + TORSIONS)],
    "doc/src/compute_coord_gpu.rst": [Example(("" if NO_LABELS else "labelmap atom 1 Na 2 O 3 Zn 4 H").join([WATER, PARTS]), NO_LABELS)],
    "doc/src/compute_coord_orientorder.rst": [Example(CRYSTAL)],
    "doc/src/compute_coord_shape.rst": [Example(WATER + MOLECULE)],
    "doc/src/compute_coord_volume.rst": [Example(WATER.replace("fix move all nve", ""))],
    "doc/src/compute_potential_grid.rst": [Example([IONS_AND_SLAB] * 4)],
    "doc/src/fix_ave_potential_grid.rst": [Example(IONS_AND_SLAB, [("run 100000", "run 10")])],
    "doc/src/compute_coord_force.rst": [Example(WATER)],
    "doc/src/fix_coord_bias.rst": [
        # The first kernel of an adaptive width comes within the steps that are run.
        Example(WATER, [("opes barrier 10 pace 500 temp 300 file", "opes barrier 10 pace 500 temp 300 sigma/adaptive 5 file")]),
        Example(WATER + "compute cv na coord/gpu group2 ow norm mean switch cubic d0 2.4 dmax 4.0\n", [(" && etotal < 0", "")]),
        Template("it needs eight partitions, see examples/bias/walkers"),
        Example(WATER + "compute cv na coord/gpu group2 ow norm mean switch cubic d0 2.4 dmax 4.0\nvariable name string w3\n",
                [("run 5000000", "run 5")])],
    "doc/src/fix_coord_plumed.rst": [Example(WATER + DIFFERENCE, KERNEL)],
    "doc/src/fix_multisite_linear.rst": [Example(molecules(1, ETHANE))],
    "doc/src/pair_coord.rst": [Example([NO_STYLE, NO_STYLE, NO_STYLE, NO_STYLE_REAL], [("device cuda", f"device {coordtest.DEVICE}")])],
    "doc/src/pair_multisite.rst": [Example([molecules(1), molecules(2), molecules(1), molecules(2)], after="set_multisite all")],
    "doc/src/set_multisite.rst": [Example(molecules(1, ETHANE))],
    "doc/src/write_grid.rst": [Example([IONS_AND_SLAB] * 2, ONE_RUN)],
}
for style in coordtest.ORDER_STYLES:
    SYSTEMS.setdefault(f"doc/src/compute_{style.replace('/', '_')}.rst", [Example(FLUID)])


# ---------------------------------------------------------------- tests

class Session:
    """One LAMMPS, in which the commands of a block run."""

    def __init__(self):
        self.lmp = coordtest.start()
        self.biases = self.variables = 0
        self.periodic = set()    # computes whose S a linear bias cannot act on
        self.volumes = set()     # computes that have no gradient

    def command(self, line):
        """Run a command, and check the forces if it defines a bias. Metadynamics deposits every PACE
        steps."""
        line = re.sub(r"\bpace \d+", f"pace {PACE}", line)
        words = line.split()
        if words[0] == "fix" and words[3] in ("coord/bias", "coord/plumed"):
            self.check_bias(line, words)
            return
        self.lmp.command(line)
        if words[0] == "compute" and "periodic" in words:
            self.periodic.add(words[1])
        if words[0] == "compute" and words[3] == "coord/geometry" and words[4] == "dihedral":
            self.periodic.update(f"{words[1]}[{k}]" for k in (1, 2))
        if words[0] == "compute" and words[3] == "coord/volume":
            self.volumes.add(words[1])
        if words[0] == "dump":
            self.lmp.command(f"dump_modify {words[1]} first yes")

    def force_of(self, line, steps=STEPS):
        """Define a fix, run, and return its forces on the atoms at the last one: the
        difference of LAMMPS' forces before and after the fix. The fix stays defined."""
        name = line.split()[1]
        for old in name, "before", "after":
            if self.lmp.has_id("fix", old):
                self.lmp.command(f"unfix {old}")
        for command in "fix before all store/force", line, "fix after all store/force", f"run {steps}":
            self.lmp.command(command)
        f = [np.array(self.lmp.numpy.extract_fix(which, 1, 2))[:self.lmp.extract_global("nlocal")] for which in ("before", "after")]
        for old in "before", "after":
            self.lmp.command(f"unfix {old}")
        return f[1] - f[0]

    def check_bias(self, line, words):
        computes = [word[2:] for word in words[4:] if word.startswith("c_")]
        if self.lmp.extract_global("ntimestep") % PACE == 0:
            self.lmp.command("run 2")    # at a deposit, S is at the center of a hill, where it has no force
        for name in computes:    # ID, or ID[k]
            if name in self.volumes:
                continue
            probe = "harmonic k 1.0 s0 0" if name in self.periodic else "linear k 1.0"
            largest = np.abs(self.force_of(f"fix probe all coord/bias c_{name} {probe}")).max()
            self.lmp.command("unfix probe")
            print(f"    |dS/dx| of {name}: {largest:.2g}")
            assert largest > SMALLEST, f"{name} has no gradient: {line}"
            self.variables += 1
        force = self.force_of(line)
        beyond = line
        if words[3] == "coord/bias" and words[4 + len(computes)].startswith("wall/"):
            # A wall acts beyond s0: here it is 0.5 from S, on the side on which S is.
            side = -0.5 if "wall/upper" in words else 0.5
            wall = [repr(self.lmp.extract_fix(words[1], 0, 1, 4 * k) + side) for k in range(len(computes))]
            at = words.index("s0") + 1
            beyond = " ".join(words[:at] + wall + words[at + len(computes):])
            force = self.force_of(beyond, steps=0)
        stride = 4 if words[3] == "coord/bias" else 2
        slopes = [self.lmp.extract_fix(words[1], 0, 1, stride * k + 1) for k in range(len(computes))]
        print(f"    largest force {np.abs(force).max():.2g}, dV/dS {' '.join('%.2g' % slope for slope in slopes)}: {line}")
        assert all(slope != 0 and np.isfinite(slope) for slope in slopes), f"dV/dS is {slopes}: {line}"
        has_gradient = not computes or not self.volumes.issuperset(computes)
        assert (np.abs(force).max() > SMALLEST) == has_gradient, f"the largest force is {np.abs(force).max()}: {line}"
        if beyond != line:
            self.lmp.command(f"unfix {words[1]}")
            self.lmp.command(line)
        self.biases += 1

    def run(self, lines):
        for line in lines:
            try:
                self.command(line)
            except Exception as error:
                raise AssertionError(f"{line}\n{error}") from error
        for name in self.lmp.available_ids("compute"):
            variable = rf"compute\s+{re.escape(name)}\s+\S+\s+(?:coord/(?:custom|energy|gpu|volume)|{'|'.join(coordtest.ORDER_STYLES)})\s"
            if any(re.match(variable, line) for line in lines):
                self.lmp.command(f"variable scalar_{name} equal c_{name}")
                self.lmp.command(f"thermo_style custom step v_scalar_{name}")
                self.lmp.command("run 1")
        self.lmp.command("run 1")


class PageExamples(unittest.TestCase):
    def setUp(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(tempfile.mkdtemp(dir=coordtest.folder()))
        shutil.copy(os.path.join(REPOSITORY, "examples/molecules/molecules.multisite"), ".")
        files = {"cubic_ice.vectors": VECTORS, "two_names.dat": TWO_NAMES,
                 "items.txt": "distance 5 solute\ndihedral 5 7 9 15  # of the backbone\n",
                 "ref.txt": "1 0 0 0\n4 1.5 0 0\n7 2 1.4 0\n10 3.5 1.4 0.3\n"}
        for name, page in ("plumed.dat", "fix_coord_plumed"), ("multi.dat", "compute_coord_energy"):
            with open(os.path.join(REPOSITORY, f"doc/src/{page}.rst")) as file:
                plumed, = [block.text for block in rst_blocks(file.read()) if block.language == "text"]
            files[name] = re.sub(r"PACE=\d+", f"PACE={PACE}", plumed).replace("FILE=DELTAFS", "FILE=DELTAFS OBSERVATION_STEPS=1")
        for name, text in files.items():
            with open(name, "w") as file:
                file.write(text)

    def test_all_blocks_have_a_system(self):
        found = {page: inputs_of(page) for page in PAGES}
        found = {page: [f"line {block.line}: {block.text.splitlines()[0]}" for block in blocks]
                 for page, blocks in found.items() if blocks}
        self.assertEqual(sorted(found), sorted(SYSTEMS), "pages with LAMMPS input, and pages in SYSTEMS")
        for page, blocks in found.items():
            self.assertEqual(len(blocks), len(SYSTEMS[page]), f"{page}: give each block its system in SYSTEMS: {blocks}")

    def check(self, page):
        blocks = inputs_of(page)
        if any(" coord/plumed " in block.text for block in blocks) and not os.path.exists(plumedtest.KERNEL):
            self.skipTest("GPUCOORD_TEST_PLUMED is not set to the folder of a PLUMED")
        biases = sum(len(re.findall(r"^fix\s+\S+\s+all\s+coord/(?:bias|plumed)\s", "\n".join(commands_of(block.text)), re.MULTILINE))
                     for block, example in zip(blocks, SYSTEMS[page]) if not isinstance(example, Template))
        checked = 0
        for block, example in zip(blocks, SYSTEMS[page]):
            with self.subTest(f"{page}, line {block.line}"):
                if isinstance(example, Template):
                    print(f"{page}, line {block.line}: not run: {example.reason}")
                    continue
                text = block.text
                for old, new in example.changes:
                    text = text.replace(old, new)
                parts = text.split("\n\n") if isinstance(example.before, list) else [text]
                systems = example.before if isinstance(example.before, list) else [example.before]
                self.assertEqual(len(parts), len(systems), "parts of the block and of SYSTEMS")
                for part, system in zip(parts, systems):
                    print(f"{page}, line {block.line}: {part.splitlines()[0]}")
                    session = Session()
                    for line in commands_of(system):
                        session.lmp.command(line)
                    session.run(commands_of(part) + commands_of(example.after))
                    session.lmp.close()
                    checked += session.biases
        self.assertEqual(checked, biases, "biases that were checked")


for page in SYSTEMS:
    setattr(PageExamples, "test_" + re.sub(r"\W", "_", page), lambda self, page=page: self.check(page))

if __name__ == "__main__":
    unittest.main(verbosity=2)
