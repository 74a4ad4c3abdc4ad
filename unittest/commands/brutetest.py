"""The reference of the tests of compute coord/gpu: S, dS/dx and W by brute force.

It follows the definitions (sums over pairs and explicit periodic images, in extended precision), not
GPUCOORD's code.
"""

import itertools

import numpy as np

import coordtest

LD = np.longdouble


def power(x, exponent):
    """Return x^exponent, by multiplications if possible, because pow is slow in extended precision."""
    if exponent != int(exponent) or exponent < 0:
        return x**exponent
    result, square, bits = np.ones_like(x), x, int(exponent)
    while bits:
        if bits & 1:
            result = result * square
        square, bits = square * square, bits >> 1
    return result


class Switch:
    """A switching function: s(r) and ds/dr by the published formulas, and its keywords."""

    def __init__(self, kind, r0=None, d0=0.0, dmax=None, n=6, m=None, a=None, b=None, beta=None, lam=1.8,
                 ref=None, func=None, expression=None, stretch=True):
        words = ["switch", kind]
        if r0 is not None:
            words.append(repr(r0))
        given = {"nn": n if kind == "rational" and n != 6 else None, "mm": m, "d0": d0 or None, "a": a, "b": b,
                 "beta": beta, "ref": ref, "lambda": lam if lam != 1.8 else None}
        for name, value in given.items():
            if value is not None:
                words += [name, repr(value)]
        if expression is not None:
            words += ["func", f'"{expression}"']
        if dmax is not None:
            words += ["dmax", "INF" if np.isinf(dmax) else repr(dmax)]
        if not stretch:
            words.append("nostretch")
        self.keywords = " ".join(words)

        self.kind, self.d0, self.n, self.m = kind, LD(d0), LD(n), LD(m if m is not None else 2 * n)
        self.a, self.b, self.beta, self.lam, self.ref, self.func = a, b, beta, lam, ref, func
        if kind == "rational" and dmax is None:
            dmax = d0 + r0 * LD(1e-5) ** (1 / (self.n - self.m))
        if kind == "cosinus" and dmax is None:
            dmax = d0 + r0
        if kind == "cubic":
            r0 = dmax - d0
        self.r0 = LD(r0 if r0 is not None else 1)
        self.dmax = LD(np.inf if dmax is None else dmax)
        self.stretch, self.shift = LD(1), LD(0)
        if stretch and np.isfinite(self.dmax):
            at_zero = self.shape(np.zeros(1, LD))[0][0]
            at_dmax = self.shape(np.array([(self.dmax - self.d0) / self.r0]))[0][0]
            self.stretch = 1 / (at_zero - at_dmax)
            self.shift = -at_dmax * self.stretch

    def shape(self, x):
        """Return s'(x) and ds'/dx, unstretched, x >= 0."""
        if self.kind == "rational":
            return self.rational(x)
        if self.kind == "exp":
            return np.exp(-x), -np.exp(-x)
        if self.kind == "gaussian":
            return np.exp(-x * x / 2), -x * np.exp(-x * x / 2)
        if self.kind == "smap":
            a, b = LD(self.a), LD(self.b)
            c = LD(2) ** (a / b) - 1
            return (1 + c * x**a) ** (-b / a), -b * c * x ** (a - 1) * (1 + c * x**a) ** (-b / a - 1)
        if self.kind == "cubic":
            return (x - 1) ** 2 * (1 + 2 * x), 6 * x * (x - 1)
        if self.kind == "tanh":
            return 1 - np.tanh(x), -1 / np.cosh(x) ** 2
        if self.kind == "cosinus":
            pi = LD("3.14159265358979323846264338328")
            return (np.where(x > 1, 0, (np.cos(pi * x) + 1) / 2), np.where(x > 1, 0, -pi / 2 * np.sin(pi * x)))
        if self.kind == "q":
            e = np.exp(LD(self.beta) * (x + self.d0 - LD(self.lam) * LD(self.ref)))
            return 1 / (1 + e), -LD(self.beta) * e / (1 + e) ** 2
        return self.func(x)

    def rational(self, x):
        """Return (1 - x^n)/(1 - x^m). Near x = 1, numerator and denominator are Taylor series in ln
        x."""
        n, m = self.n, self.m
        with np.errstate(all="ignore"):
            xn1, xm1 = power(x, n - 1), power(x, m - 1)
            xn, xm = xn1 * x, xm1 * x
            s = (1 - xn) / (1 - xm)
            dsdr = (m * xm1 * (1 - xn) - n * xn1 * (1 - xm)) / (1 - xm) ** 2
            log = np.log(x)
        near = np.abs(log) < 0.02
        if near.any():
            phi, dphi, term = {}, {}, None
            for p in (n, m):    # (e^t - 1)/t and its derivative
                t = p * log[near]
                term, phi[p], dphi[p] = np.ones_like(t), np.zeros_like(t), np.zeros_like(t)
                for k in range(20):
                    phi[p] += term / (k + 1)            # t^k/(k+1)!
                    dphi[p] += term * LD(k + 1) / ((k + 1) * (k + 2))    # (k+1) t^k/(k+2)!
                    term = term * t / (k + 1)
            s[near] = n / m * phi[n] / phi[m]
            dsdr[near] = s[near] * (n * dphi[n] / phi[n] - m * dphi[m] / phi[m]) / x[near]
        return s, dsdr

    def __call__(self, r):
        """Return s and ds/dr for an array of distances."""
        r = np.asarray(r, LD)
        s, dsdr = np.ones_like(r), np.zeros_like(r)
        outer = r > self.d0
        value, derivative = self.shape((r[outer] - self.d0) / self.r0)
        s[outer] = value * self.stretch + self.shift
        dsdr[outer] = derivative * self.stretch / self.r0
        return np.where(r > self.dmax, 0, s), np.where(r > self.dmax, 0, dsdr)


class Box:
    """Edge vectors in LAMMPS' form, and which of them are periodic."""

    def __init__(self, lengths, tilt=(0, 0, 0), periodic=(True, True, True), lo=(0, 0, 0), from_lammps=False):
        """from_lammps: the edges come from LAMMPS and remain unchanged."""
        (lx, ly, lz), (xy, xz, yz) = lengths, tilt
        self.edges = np.array([[lx, 0, 0], [xy, ly, 0], [xz, yz, lz]], float)
        self.lo = np.array(lo, float)
        if not from_lammps:
            self.edges, self.lo = coordtest.on_grid(self.edges), coordtest.on_grid(self.lo)
        self.periodic = tuple(periodic)
        self.tilted = any(tilt)

    def lattice(self):
        return self.edges[list(self.periodic)]

    def shortest_vector(self):
        if not any(self.periodic):
            return np.inf
        lattice = self.lattice()
        steps = itertools.product(range(-4, 5), repeat=len(lattice))
        return min(np.linalg.norm(np.dot(n, lattice)) for n in steps if any(n))

    def wrap(self, x):
        """Move atoms by lattice vectors into one period."""
        lattice = self.lattice()
        if not len(lattice):
            return x
        fractions = (x - self.lo) @ np.linalg.pinv(lattice)
        return x - np.floor(fractions) @ lattice

    def periods(self, reach):
        """Return the largest multiple of each lattice vector that can bring two wrapped atoms
        within reach of each other."""
        dual = np.linalg.pinv(self.lattice())
        return [int(np.floor(reach * np.linalg.norm(column) + 1)) for column in dual.T]

    def images(self, reach):
        """Return the lattice vectors that can bring two wrapped atoms within reach of each other;
        the first is zero."""
        lattice = self.lattice()
        if not len(lattice):
            return np.zeros((1, 3))
        steps = np.array(list(itertools.product(*(range(-k, k + 1) for k in self.periods(reach)))))
        steps = steps[np.argsort(np.abs(steps).sum(axis=1), kind="stable")]
        return steps @ lattice

    def rounding(self, x, reach):
        """Return a bound of the error that LAMMPS' rounding of positions adds to the vector between
        two atoms or images. LAMMPS rounds when it wraps an atom, when it converts to units of the
        edges of a tilted box and back, and for each image of an image: in total at most four
        roundings of the largest coordinate in the process."""
        if not coordtest.POSITION_ROUNDOFF or not len(x):
            return 0.0
        in_float = lambda numbers: (numbers.astype(np.float32) == numbers).all()
        positions = x[:, None] + self.images(reach)
        if in_float(positions) and (not self.tilted or in_float((positions - self.lo) @ np.linalg.inv(self.edges))):
            return 0.0
        largest = np.abs(x).max(axis=0)
        if any(self.periodic):
            largest = largest + self.periods(reach) @ np.abs(self.lattice())
        return 4 * coordtest.POSITION_ROUNDOFF * float(np.linalg.norm(largest))


class Result:
    """S, W and the per-atom array [n][4]: s_i and dS/dx. Only from brute force: W of each atom,
    half a pair for each end, and spread, the largest errors from LAMMPS' rounding of positions to
    float (None: no rounding)."""

    def __init__(self, value, virial, atoms, atom_virials=None, spread=None):
        self.value, self.virial, self.atoms = float(value), np.array(virial, float), np.array(atoms, float)
        self.atom_virials, self.spread = atom_virials, spread

    def spread_of(self, quantity):
        return getattr(self.spread, quantity) if self.spread else 0.0


def brute_force(box, x, switch, a, b=None, pairs=None, image="all", norm="sum"):
    """a, b: indices of the atoms of the groups. pairs: index pairs instead of groups."""
    x = box.wrap(np.asarray(x, float))
    lattice_diagonal = np.abs(box.lattice()).sum(axis=0)
    reach = float(switch.dmax) if image == "all" else float(np.linalg.norm(lattice_diagonal))
    images = box.images(reach)
    rounding = box.rounding(x, reach)
    zero = ~images.any(axis=1)
    assert zero[0] and zero.sum() == 1

    # Every ordered candidate (i, j, lattice vector), and its weight in S.
    first, second, vectors, counts = [], [], [], []
    if pairs is not None:
        pairs = np.asarray(pairs)
        i, j = pairs[pairs[:, 0] != pairs[:, 1]].T
    else:
        partners = a if b is None else b
        i, j = (grid.ravel() for grid in np.meshgrid(a, partners, indexing="ij"))
    if image == "minimum" or pairs is not None:
        apart = i != j
        i, j = i[apart], j[apart]
        d = x[j] - x[i]
        best = np.full(len(i), np.inf)
        nearest = np.zeros((len(i), 3))
        for vector in images:
            distance = ((d + vector) ** 2).sum(axis=1)
            closer = distance < best
            best[closer], nearest[closer] = distance[closer], vector
        count = np.full(len(i), 0.5 if b is None and pairs is None else 1.0)
        first, second, vectors, counts = [i], [j], [nearest], [count]
    else:
        for vector in images:
            d = x[j] - x[i] + vector
            use = (d**2).sum(axis=1) <= (float(switch.dmax) + rounding) ** 2 * (1 + 1e-12)
            if not vector.any():
                use &= i != j
            # Within one group each pair occurs from both ends, as do both signs of an atom's own
            # image vector.
            first.append(i[use])
            second.append(j[use])
            vectors.append(np.tile(vector, (use.sum(), 1)))
            counts.append(np.full(use.sum(), 0.5 if b is None else 1.0))
    i, j, vector, count = (np.concatenate(part) for part in (first, second, vectors, counts))

    d = x[j].astype(LD) - x[i].astype(LD) + vector.astype(LD)
    r = np.sqrt((d**2).sum(axis=1))
    s, dsdr = switch(r)
    dfunc = dsdr / r
    n_first = len(pairs) if pairs is not None else len(a)
    scale = LD(1) / n_first if norm == "mean" and n_first else LD(0 if norm == "mean" else 1)

    def summed(s, gradients, virials, sign_of_first):
        """Sum s of the pairs, ds/dx of their second atoms and W."""
        pair_virials = [count * virial * scale for virial in virials]
        atoms = np.zeros((len(x), 4), LD)
        atom_virials = np.zeros((len(x), 6), LD)
        for end, sign in ((i, sign_of_first), (j, 1)):
            for k, pair_virial in enumerate(pair_virials):
                np.add.at(atom_virials[:, k], end, pair_virial / 2)
            np.add.at(atoms[:, 0], end, count * s)
            for axis in range(3):
                np.add.at(atoms[:, 1 + axis], end, sign * count * gradients[axis] * scale)
        return Result((count * s).sum() * scale, [pair_virial.sum() for pair_virial in pair_virials], atoms, atom_virials)

    gradients = [dfunc * d[:, axis] for axis in range(3)]
    result = summed(s, gradients, [-gradients[p] * d[:, q] for p, q in coordtest.COMPONENTS], -1)
    if rounding:    # rounding of distances, also across dmax, and of directions
        moved = [switch(np.maximum(r + change, 0)) for change in (-rounding, rounding)]
        s_spread, dsdr_spread = (np.max([np.abs(some[k] - here) for some in moved], axis=0) for k, here in enumerate((s, dsdr)))
        gradient_spread = [dsdr_spread * np.abs(d[:, axis]) / r + (np.abs(dsdr) + dsdr_spread) * rounding / r for axis in range(3)]
        virial_spread = [gradient_spread[p] * np.abs(d[:, q]) + (np.abs(gradients[p]) + gradient_spread[p]) * rounding for p, q in coordtest.COMPONENTS]
        result.spread = summed(s_spread, gradient_spread, virial_spread, 1)
    return result


def result_of(lmp, ident):
    return Result(coordtest.scalar_of(lmp, ident), coordtest.virial_of(lmp, ident), coordtest.atoms_of(lmp, ident))
