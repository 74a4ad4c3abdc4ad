/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "potential_grid_source.h"

#include "compute.h"
#include "error.h"
#include "fix.h"
#include "modify.h"
#include "update.h"

#include <cerrno>
#include <cstdlib>

using namespace LAMMPS_NS;

// Names of per-grid data of compute potential/grid and of LAMMPS' own styles. Styles do not provide
// a list of them.
static const char *const NAMES[] = {"phi", "near", "far", "efield", "data", "count"};

/* ---------------------------------------------------------------------- */

PergridSource::PergridSource(LAMMPS *lmp, const std::string &command, const std::string &word,
                             int iarg) :
    Pointers(lmp),
    command(command), iarg(iarg)
{
  const auto bracket = word.find('['), first = word.find(':'), second = word.find(':', first + 1);
  has_column = bracket != std::string::npos;
  bool is_good = word.size() > 2 && (word[0] == 'c' || word[0] == 'f') && word[1] == '_' &&
      first != std::string::npos && second != std::string::npos && second < bracket &&
      word.find(':', second + 1) == std::string::npos;
  if (is_good && has_column) {
    const std::string digits = word.substr(bracket + 1, word.size() - bracket - 2);
    is_good = word.back() == ']' && utils::is_integer(digits);
    if (is_good) {
      errno = 0;
      const long value = std::strtol(digits.c_str(), nullptr, 10);
      column = errno == ERANGE || value < 0 || value > MAXSMALLINT ? MAXSMALLINT
                                                                   : static_cast<int>(value);
    }
  }
  if (!is_good)
    error->all(FLERR, iarg,
               "{} cannot read '{}' - give c_ID:grid:data of a compute or f_ID:grid:data of a fix, "
               "with [k] for column k of an "
               "array",
               command, word);

  const std::string id = word.substr(2, first - 2),
                    grid_name = word.substr(first + 1, second - first - 1),
                    data_name = word.substr(second + 1,
                                            has_column ? bracket - second - 1 : std::string::npos);
  if (word[0] == 'c') {
    compute = modify->get_compute_by_id(id);
    if (!compute) error->all(FLERR, iarg, "{}: compute {} does not exist", command, id);
    find_data(compute, "compute " + id, grid_name, data_name);
    if (!compute->is_initialized())
      error->all(FLERR, iarg, "{}: compute {} is used before a run has set it up - use run 0 first",
                 command, id);
  } else {
    fix = modify->get_fix_by_id(id);
    if (!fix) error->all(FLERR, iarg, "{}: fix {} does not exist", command, id);
    find_data(fix, "fix " + id, grid_name, data_name);
    if (update->first_update == 0)
      error->all(FLERR, iarg, "{}: fix {} has no data before a run", command, id);
  }
}

template <class Style>
void PergridSource::find_data(Style *source, const std::string &kind, const std::string &grid_name,
                              const std::string &data_name)
{
  if (!source->pergrid_flag) error->all(FLERR, iarg, "{}: {} has no per-grid data", command, kind);
  int dimension, ncolumns = 0;
  igrid = source->get_grid_by_name(grid_name, dimension);
  if (igrid < 0) error->all(FLERR, iarg, "{}: {} has no grid named '{}'", command, kind, grid_name);
  idata = source->get_griddata_by_name(igrid, data_name, ncolumns);
  if (idata < 0) {
    std::string known;
    int any;
    for (const char *const name : NAMES)
      if (source->get_griddata_by_name(igrid, name, any) >= 0)
        known += (known.empty() ? " - known are " : ", ") + std::string(name);
    error->all(FLERR, iarg, "{}: {} has no data named '{}' on its grid {}{}", command, kind,
               data_name, grid_name, known);
  }
  if (has_column && ncolumns == 0)
    error->all(FLERR, iarg,
               "{}: data {} of {} has one number per point and no columns - leave out [{}]",
               command, data_name, kind, column);
  if (!has_column && ncolumns > 0)
    error->all(FLERR, iarg, "{}: data {} of {} has {} columns - choose one by [1] to [{}]", command,
               data_name, kind, ncolumns, ncolumns);
  if (has_column && (column < 1 || column > ncolumns))
    error->all(FLERR, iarg, "{}: data {} of {} has only columns 1 to {}", command, data_name, kind,
               ncolumns);
}

/* ---------------------------------------------------------------------- */

void PergridSource::evaluate()
{
  if (compute) {
    // write_dump also evaluates the compute again, because atoms may have changed since its
    // evaluation in this timestep. The compute stays marked as not evaluated, because fix ave/grid
    // would use the values of a marked compute for its own timestep.
    modify->clearstep_compute();
    compute->compute_pergrid();
  }
  void *const data = compute ? compute->get_griddata_by_index(idata)
                             : fix->get_griddata_by_index(idata);
  if (column)
    array = static_cast<double ****>(data);
  else
    vector = static_cast<double ***>(data);
}

Grid3d *PergridSource::grid() const
{
  return static_cast<Grid3d *>(compute ? compute->get_grid_by_index(igrid)
                                       : fix->get_grid_by_index(igrid));
}
