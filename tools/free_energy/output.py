"""Text files and plots."""

import sys

import numpy as np

from .estimates import LOW, reference
from .files import Failure
from .samples import inside

MOST_ROWS = 20    # of printed tables


def report(job, result):
    if not np.isfinite(result.f).any():
        raise Failure("F has no value on this grid - give another --grid")
    zero = reference(job, result.f, result.points)
    result.f = result.f - result.f.flat[zero]
    # Early in the run F may have no value there.
    result.snapshots = [(n, f - (f.flat[zero] if np.isfinite(f.flat[zero])
                                 else f.min(where=np.isfinite(f), initial=np.inf)))
                        for n, f in result.snapshots if np.isfinite(f).any()]
    name = job.arguments.out
    lowest = np.unravel_index(np.where(np.isfinite(result.f), result.f, np.inf).argmin(),
                              result.f.shape)
    print("minimum of F at " + ", ".join(f"{v} = {x[k]:.6g}" for v, x, k in
                                         zip(result.names, result.points, lowest)))
    print_blocks(job, result)
    rows = print_convergence(job, result)
    print_difference(job, result)
    write(f"{name}.dat", header(job, result, ["free"] + ["error"] * (result.error is not None)),
          result, [result.f] + [result.error] * (result.error is not None))
    written = [f"{name}.dat"]
    if job.arguments.every:
        write(f"{name}.every.dat", header(job, result, [f"free_{n}" for n, _ in result.snapshots]),
              result, [f for _, f in result.snapshots])
        written.append(f"{name}.every.dat")
    if draw(job, result, rows):
        written.append(f"{name}.png")
    print("wrote " + ", ".join(written))


def print_blocks(job, result):
    if not result.blocks:
        return
    print(f"error of F below {LOW:g} kT, root mean square, {job.unit}\n"
          "  blocks   samples of a block     error")
    for k, (number, length, rms) in enumerate(result.blocks):
        print(f"{number:8d}   {length:18,d} {rms:9.3g}"
              + ("   used" if k == result.chosen else ""))


def difference(job, result, f):
    """Return F of the second basin minus F of the first."""
    basins = job.arguments.basins
    for k in 0, 2:
        if not inside(result.points[0], basins[k:k + 2]).any():
            raise Failure(f"--basins: F has no point from {basins[k]:g} to {basins[k + 1]:g}, only from "
                          f"{result.points[0][0]:g} to {result.points[0][-1]:g} - give another range, "
                          "or another --grid")
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(np.isfinite(f), np.exp(-(f - f[np.isfinite(f)].min()) / job.kt), 0.0)
        p = p.reshape(len(p), -1).sum(axis=1)
        one, other = (p[inside(result.points[0], basins[k:k + 2])].sum() for k in (0, 2))
        return job.kt * (np.log(one) - np.log(other))


def print_difference(job, result):
    if not job.arguments.basins:
        return
    if result.difference:
        value, error = result.difference
        print(f"F of the second basin minus F of the first: {value:.4g} +- {error:.2g} {job.unit}")
    else:
        print("F of the second basin minus F of the first: "
              f"{difference(job, result, result.f):.4g} {job.unit}")


def print_convergence(job, result):
    """Print and return the difference to the last F after parts of the run."""
    if not job.arguments.every:
        return []
    last = result.f
    low = np.isfinite(last)
    low &= last < last[low].min() + LOW * job.kt
    rows = []
    for n, f in result.snapshots:
        both = low & np.isfinite(f)
        d = f[both] - last[both]
        rms = np.sqrt(((d - d.mean())**2).mean()) if len(d) else np.nan
        rows.append((n, rms) + ((difference(job, result, f),) if job.arguments.basins else ()))
    print(f"{result.noun}: root mean square difference to the last F (its part below {LOW:g} kT)"
          + (", F of the second basin minus F of the first" if job.arguments.basins else "")
          + f", {job.unit}")
    shown = np.unique(np.linspace(0, len(rows) - 1, min(MOST_ROWS, len(rows))).round().astype(int))
    for k in shown:
        print(f"{rows[k][0]:10,d}" + "".join(f" {value:11.4g}" for value in rows[k][1:]))
    return rows


def header(job, result, columns):
    text = f"#! FIELDS {' '.join(result.names + columns)}\n"
    for k, (name, x) in enumerate(zip(result.names, result.points)):
        period = result.periods[k] if result.periods else None
        low, high = period or (x[0], x[-1])
        text += (f"#! SET min_{name} {low:.17g}\n#! SET max_{name} {high:.17g}\n"
                 f"#! SET nbins_{name} {len(x)}\n"
                 f"#! SET periodic_{name} {'true' if period else 'false'}\n")
    return text + (f"# free_energy.py units {job.units}: F in {job.unit}, kT = {job.kt:.12g}; from "
                   f"{' '.join(job.arguments.files)}\n")


def write(path, text, result, columns):
    """The first variable is the fastest; an empty line follows each of its rows."""
    mesh = np.meshgrid(*result.points, indexing="ij")
    table = np.column_stack([x.transpose().ravel() for x in [*mesh, *columns]])
    row = len(result.points[0]) if len(result.points) > 1 else 0
    try:
        with open(path, "w") as file:
            file.write(text)
            for k, numbers in enumerate(table):
                if row and k and k % row == 0:
                    file.write("\n")
                file.write(" ".join(f"{x:.12g}" for x in numbers) + "\n")
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror} - give another --out") from None


def draw(job, result, rows):
    """Return whether a plot was drawn."""
    name = f"{job.arguments.out}.png"
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        job.note(f"{name} is not drawn: this Python ({sys.executable}) cannot import matplotlib "
                 f"({error})")
        return False
    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    panels = 1 + bool(rows) + (len(result.blocks) > 1) + (result.overlap is not None)
    figure, axes = plt.subplots(1, panels, figsize=(1.5 + 3.5 * panels, 3.5), layout="constrained",
                                squeeze=False)
    draw_f(job, result, figure, axes[0, 0])
    left = list(axes[0, 1:])
    if rows:
        left[0].plot([row[0] for row in rows], [row[1] for row in rows], "o-", ms=3, lw=0.8)
        left[0].set(xlabel=result.noun, ylabel=f"difference to the last F ({job.unit})",
                    ylim=(0, None))
        left.pop(0)
    if len(result.blocks) > 1:
        _, lengths, errors = zip(*result.blocks)
        left[0].plot(lengths, errors, "o-", ms=3, lw=0.8)
        left[0].plot(lengths[result.chosen], errors[result.chosen], "ko", ms=5)
        left[0].set_xscale("log", base=2)
        left[0].set(xlabel="samples of a block", ylabel=f"error of F ({job.unit})", ylim=(0, None))
        left.pop(0)
    if result.overlap is not None:
        image = left[0].imshow(result.overlap, cmap="Blues", vmin=0, origin="lower")
        left[0].set(xlabel="window", ylabel="window", title="overlap")
        figure.colorbar(image, ax=left[0])
    figure.savefig(name, dpi=110)
    plt.close(figure)
    return True


def draw_f(job, result, figure, axes):
    if len(result.points) == 1:
        x, f, error = result.points[0], result.f, result.error
        for k, (_, earlier) in enumerate(result.snapshots[:-1]):
            axes.plot(x, earlier, color=str(0.9 - 0.3 * k / len(result.snapshots)), lw=0.5)
        axes.plot(x, f, color="tab:blue", lw=1.2)
        if error is not None:
            shown = np.isfinite(f) & np.isfinite(error)
            axes.fill_between(x, f - error, f + error, where=shown, color="tab:blue", alpha=0.25,
                              lw=0)
        axes.set(xlabel=result.names[0], ylabel=f"F ({job.unit})")
        return
    f = np.ma.masked_invalid(result.f)
    filled = axes.contourf(*result.points, f.transpose(), levels=15, cmap="viridis")
    figure.colorbar(filled, ax=axes, label=f"F ({job.unit})")
    axes.set(xlabel=result.names[0], ylabel=result.names[1])
