"""Plots of doc/images/performance-*.png from doc/results.

Each file holds a digest of its data and of this script, so that a check for stale plots needs no
matplotlib and does not depend on its version.
"""

import hashlib
import json
import os
import re

import results
from results import ResultError, is_same_size, value_of

# Colors of Okabe and Ito, which color-blind readers can tell apart; also markers differ.
STYLES = {
    "GPUCOORD, resident on the GPU": ("#0072B2", "o"),
    "GPUCOORD, GPU, host arrays": ("#56B4E9", "s"),
    "GPUCOORD, host": ("#009E73", "^"),
    "cudaCoord, GPU": ("#D55E00", "v"),
    "PLUMED, 16 threads": ("#E69F00", "D"),
    "fix colvars/kk": ("#CC79A7", "P"),
}
BIASES = {
    "harmonic": "S", "harmonic, function more_than": "function of s_i", "harmonic, q6 local": "q6 local",
    "harmonic, q6 dot": "q6 dot", "harmonic, q6 average": "q6 average", "harmonic, envsim fcc": "envsim fcc",
    "harmonic, pair entropy": "pair entropy",
}
MELTS = (32_000, 1_000_188)
# Systems plotted against neighbors: atoms, the line, and words. Those of other programs have other
# numbers of atoms (results.is_same_size).
SIZES = {10_648: ("-", "10$^4$ atoms"), 1_000_000: ("--", "10$^6$ atoms")}


def rows_of(tables, **conditions):
    """Return the rows, as dictionaries, whose cells equal the conditions."""
    rows = [dict(zip(tables["columns"], row)) for row in tables["rows"]]
    return [row for row in rows if all(row.get(column) == cell for column, cell in conditions.items())]


def points(rows, x, y="ms"):
    """Return sorted pairs of numbers."""
    return sorted([row[x], value_of(row[y])] for row in rows if value_of(row[y]) is not None)


def check_points(plot, names, shown):
    """Raise ResultError if a plot shows nothing for one of the names."""
    for name in names:
        if name not in shown:
            raise ResultError(f"plot {plot}: no row of the results gives points of '{name}': run `make bench`, or "
                              "correct bench/plots.py")


def data_of(folder):
    """Return what each plot shows, by name."""
    host, gpu, types, kokkos, peers = (results.load(folder, part) for part in (
        "coordination-host", "coordination-gpu", "coordination-types", "kokkos", "peers"))
    figures = peers["figures"]
    resident = "value and derivatives, ms"
    arrays = rows_of(gpu["arrays"], precision="mixed", kernel="in use")
    sums = rows_of(host["S"], precision="mixed")
    threads = max(row["threads"] for row in sums)
    sums = [row for row in sums if row["threads"] == threads]
    cudacoord = rows_of(figures, program="cudaCoord", precision="mixed")
    plumed = rows_of(figures, program="PLUMED", table="coordination-host/S", threads=16)
    with_65 = lambda rows: [row for row in rows if row["neighbors"] == 65]
    atoms = {
        "GPUCOORD, resident on the GPU": points(rows_of(types["types"], types=1, precision="mixed"), "atoms", resident),
        "GPUCOORD, GPU, host arrays": points(with_65(arrays), "atoms"),
        "GPUCOORD, host": points(with_65(sums), "atoms"),
        "cudaCoord, GPU": points(with_65(cudacoord), "atoms", "value"),
        "PLUMED, 16 threads": points(with_65(plumed), "atoms", "value"),
        "fix colvars/kk": points(rows_of(figures, program="fix colvars/kk"), "group", "value"),
    }
    series = {"GPUCOORD, GPU, host arrays": (arrays, "ms"), "GPUCOORD, host": (sums, "ms"),
              "cudaCoord, GPU": (cudacoord, "value"), "PLUMED, 16 threads": (plumed, "value")}
    partners = [[name, size, points([row for row in rows if is_same_size(row["atoms"], size)], "neighbors", y)]
                for name, (rows, y) in series.items() for size in SIZES]
    step = []
    for natoms in MELTS:
        for bias, label in BIASES.items():
            rows = [row for table in kokkos.values() for row in rows_of(table, atoms=natoms, group=natoms, bias=bias)]
            step += [[natoms, label, value_of(row["ms without"]), value_of(row["ms added"])] for row in rows[:1]]
    partners = [line for line in partners if len(line[2]) > 1]    # other programs lack some sizes
    check_points("performance-atoms", atoms, [name for name, line in atoms.items() if line])
    check_points("performance-partners", series, [line[0] for line in partners])
    for natoms in MELTS:
        check_points("performance-step", BIASES.values(), [row[1] for row in step if row[0] == natoms])
    return {"performance-atoms": {"threads": threads, "series": atoms},
            "performance-partners": {"threads": threads, "series": partners},
            "performance-step": step}


def name_of(series, threads):
    return f"{series}, {threads} threads" if series == "GPUCOORD, host" else series


def log_axes(axes, x, y):
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.grid(True, which="major", color="#dddddd", linewidth=0.6)


def draw_atoms(figure, data):
    axes = figure.subplots()
    for name, line in data["series"].items():
        color, marker = STYLES[name]
        axes.plot(*zip(*line), color=color, marker=marker, label=name_of(name, data["threads"]))
    log_axes(axes, "atoms (fix colvars/kk: atoms of the group)", "time of an evaluation (ms)")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_partners(figure, data):
    axes = figure.subplots()
    for name, size, line in data["series"]:
        color, marker = STYLES[name]
        axes.plot(*zip(*line), color=color, marker=marker, linestyle=SIZES[size][0],
                  label=f"{name_of(name, data['threads'])},\n{SIZES[size][1]}")
    log_axes(axes, "neighbors of an atom", "time of an evaluation (ms)")
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_step(figure, data):
    panels = figure.subplots(1, len(MELTS), sharey=True)
    panels[0].invert_yaxis()
    for axes, natoms in zip(panels, MELTS):
        rows = [row for row in data if row[0] == natoms]
        for k, (_, label, without, added) in enumerate(rows):
            axes.barh(k, 100, color="#bbbbbb", label="LAMMPS without bias" if k == 0 else None)
            axes.barh(k, 100 * added / without, left=100, color="#0072B2", hatch="//", edgecolor="white",
                      label="added by the bias" if k == 0 else None)
            axes.text(104 + 100 * added / without, k, f"+{added:.3g} ms", va="center")
        axes.set_yticks(range(len(rows)), [row[1] for row in rows])
        axes.set_xlim(0, 1.5 * max(100 + 100 * row[3] / row[2] for row in rows))
        axes.set_xlabel(f"timestep of {natoms:,} atoms (%)")
    handles, labels = axes.get_legend_handles_labels()
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.92))    # leaves room for the legend
    figure.legend(handles, labels, frameon=False, loc="upper center", ncols=2)


DRAW = {"performance-atoms": draw_atoms, "performance-partners": draw_partners, "performance-step": draw_step}


def digest(data):
    with open(__file__) as script:
        return hashlib.sha256((json.dumps(data) + script.read()).encode()).hexdigest()


def draw_all(doc):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib.figure import Figure
    os.makedirs(os.path.join(doc, "images"), exist_ok=True)
    matplotlib.rcParams.update({"font.size": 10, "lines.linewidth": 1.5, "lines.markersize": 5,
                                "axes.spines.top": False, "axes.spines.right": False})
    for name, data in data_of(os.path.join(doc, "results")).items():
        figure = Figure(figsize=(7, 3.6), dpi=200, layout="constrained")    # 10 pt at a width of 700 px
        DRAW[name](figure, data)
        figure.savefig(os.path.join(doc, "images", name + ".png"), metadata={"Software": None, "Description": digest(data)})


def differing(doc):
    """Return the plots that are absent or were drawn from other data."""
    found = []
    for name, data in data_of(os.path.join(doc, "results")).items():
        path = os.path.join(doc, "images", name + ".png")
        try:
            with open(path, "rb") as file:
                text = re.search(rb"tEXtDescription\0([0-9a-f]{64})", file.read())
        except FileNotFoundError:
            text = None
        if not text or text.group(1).decode() != digest(data):
            found.append(path)
    return found
