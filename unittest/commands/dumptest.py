"""Reads the dumps of runs."""

import numpy as np

from brutetest import Box


class Frame:
    """One step of a dump: columns by name in the order of atom IDs, and the box."""

    def __init__(self, step, box, columns):
        self.step, self.box, self.columns = step, box, columns

    def __getitem__(self, name):
        return self.columns[name]

    def x(self):
        return np.column_stack([self.columns[axis] for axis in "xyz"])

    def array(self, ident):
        return np.column_stack([self.columns[f"c_{ident}[{k}]"] for k in range(1, 5)])


def read_dump(path):
    frames = []
    with open(path) as file:
        lines = iter(file.read().splitlines())
    for line in lines:
        assert line == "ITEM: TIMESTEP", line
        step = int(next(lines))
        next(lines)
        n = int(next(lines))
        header = next(lines).split()
        bounds = np.array([[float(word) for word in next(lines).split()] for _ in range(3)])
        tilt = bounds[:, 2] if bounds.shape[1] == 3 else np.zeros(3)
        xy, xz, yz = tilt
        lo, hi = bounds[:, 0].copy(), bounds[:, 1].copy()
        lo[0] -= min(0, xy, xz, xy + xz)
        hi[0] -= max(0, xy, xz, xy + xz)
        lo[1] -= min(0, yz)
        hi[1] -= max(0, yz)
        periodic = [flag == "pp" for flag in header[-3:]]
        names = next(lines).split()[2:]
        data = np.array([[float(word) for word in next(lines).split()] for _ in range(n)]).reshape(n, len(names))
        data = data[np.argsort(data[:, names.index("id")])]
        frames.append(Frame(step, Box(hi - lo, tilt, periodic, lo, from_lammps=True), dict(zip(names, data.T))))
    return frames
