"""Free energy F(S) from hills, kernels, grids, samples and windows. Energies are in the units of
the files, F of samples and windows is in kT. ../free_energy.py is the command."""

from .deposits import Axis, Deposits, project, read_deposits, read_grid
from .files import Failure, Table, read_table
from .samples import (count_round_trips, in_blocks, jackknife, mean_of_blocks, neff, plateau,
                      profile, smooth)
from .windows import overlaps, wham, weakest_link
