"""Analysis and plots of doc/tutorial. plots.py calls these functions."""
import numpy as np

KT = 0.0019872067 * 300.0    # kcal/mol
FS = 2.0                     # timestep


def cubic(r, d0=2.4, dmax=4.0):
    """Switching function cubic of compute coord/gpu: 1 up to d0, 0 from dmax on."""
    x = np.clip((np.asarray(r, float) - d0) / (dmax - d0), 0.0, 1.0)
    return (x - 1)**2 * (1 + 2 * x)


def read_rdf(path="g.dat"):
    """r, g and the number of neighbors within r, of the last block of fix ave/time mode vector."""
    with open(path) as file:
        lines = [line for line in file if not line.startswith("#")]
    rows = int(lines[0].split()[1])
    block = np.array([line.split() for line in lines[-rows:]], float)
    return block[:, 1], block[:, 2], block[:, 3]


def autocorrelation(x):
    """Normalized autocorrelation function of a series, by FFT with zero padding."""
    x = np.asarray(x, float) - np.mean(x)
    f = np.fft.rfft(x, 2 * len(x))
    c = np.fft.irfft(abs(f)**2)[:len(x)] / np.arange(len(x), 0, -1)
    return c / c[0]


def correlation_time(x, step):
    """Time integral of the autocorrelation function up to its first zero."""
    c = autocorrelation(x)
    negative = np.flatnonzero(c <= 0)
    end = negative[0] if len(negative) else len(c)
    return step * (0.5 + c[1:end].sum())


def residences(s, low, high):
    """Start, end and basin (0 low, 1 high) of each stay: a stay ends when S reaches the other
    basin, so that recrossings of the region between low and high do not count."""
    state, start, stays = None, 0, []
    for k, value in enumerate(s):
        basin = 0 if value <= low else 1 if value >= high else state
        if basin != state:
            if state is not None:
                stays.append((start, k, state))
            state, start = basin, k
    stays.append((start, len(s), state))
    return stays


def free_energy(s, edges, weights=None):
    """F in kT of each bin, 0 at its minimum; infinite in empty bins."""
    p, _ = np.histogram(s, edges, weights=weights)
    with np.errstate(divide="ignore"):
        f = -np.log(p / p.sum())
    return f - f.min()


def in_basins(s, step, low=5.2, high=5.8):
    """For each basin: number of stays, mean stay, mean, standard deviation, correlation time of S.
    Within a stay, samples between low and high belong to the basin that was visited last.
    step: time between samples in ps."""
    result = {}
    stays = residences(s, low, high)
    for basin in 0, 1:
        parts = [s[a:b] for a, b, k in stays[1:-1] if k == basin]
        if not parts:
            continue
        every = np.concatenate(parts)
        mean = every.mean()
        longest = max(len(part) for part in parts)
        c, n = np.zeros(longest), np.zeros(longest)
        for part in parts:
            x = part - mean
            f = np.fft.rfft(x, 2 * len(x))
            c[:len(x)] += np.fft.irfft(abs(f)**2)[:len(x)]
            n[:len(x)] += np.arange(len(x), 0, -1)
        c /= n
        end = np.flatnonzero(c <= 0)
        end = end[0] if len(end) else len(c)
        result[basin] = {"stays": len(parts), "stay": step * len(every) / len(parts), "mean": mean,
                         "sigma": every.std(), "tau": step * (0.5 + (c[1:end] / c[0]).sum())}
    return result


def sum_of_hills(path, s, time=np.inf):
    """Minus the sum of the hills up to a time (fs), at each s, in kT; 0 at its minimum. Heights in
    the file are multiplied by biasfactor/(biasfactor - 1), which gives the well-tempered F."""
    hills = np.loadtxt(path)
    when, center, sigma, height = hills[hills[:, 0] <= time, :4].T
    u = (np.asarray(s)[:, None] - center)**2 / (2 * sigma**2)
    end = np.exp(-6.25)
    v = np.where(u < 6.25, height * (np.exp(-u) - end) / (1 - end), 0.0).sum(axis=1) / KT
    return v.max() - v


def reweight(path, edges, discard=0.2):
    """F in kT from the samples of metad.dat with weights exp((V - c)/kT), without a first part."""
    _, s, v, c = np.loadtxt(path).T
    first = int(discard * len(s))
    return free_energy(s[first:], edges, np.exp((v - c)[first:] / KT))


def block_errors(s, low, high, weights, counts=(64, 32, 16, 8, 4)):
    """For each number of blocks: F(low) - F(high) in kT and its standard error, by jackknife.
    low, high: (from, to) of the basins. The number of blocks must leave both basins in the rest."""
    def difference(keep):
        p = [weights[keep & (s >= a) & (s < b)].sum() for a, b in (low, high)]
        return -np.log(p[0] / p[1])
    whole, errors = difference(np.ones(len(s), bool)), []
    for n in counts:
        block = np.arange(len(s)) * n // len(s)
        f = np.array([difference(block != k) for k in range(n)])
        errors.append(np.sqrt((n - 1) * np.mean((f - f.mean())**2)))
    return whole, np.array(errors)


def round_trips(s, low, high):
    """Times from low to high and back."""
    return (len(residences(s, low, high)) - 1) // 2
