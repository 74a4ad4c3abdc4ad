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

#include "coord_within.h"

#include "gpucoord_atom_mass.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_parse.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/pairs.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

using namespace LAMMPS_NS;
using Kind = gpucoord::RegionOptions::Kind;

static const std::vector<Parse::Choice<Kind>> KINDS = {
    {"x", Kind::X}, {"y", Kind::Y}, {"z", Kind::Z}, {"r", Kind::R}};

/* ----------------------------------------------------------------------
   arguments
------------------------------------------------------------------------- */

WithinArguments WithinArguments::read(LAMMPS *lmp, const std::string &style, int &iarg, int narg,
                                      char **arg)
{
  Error *const error = lmp->error;
  WithinArguments args;
  const std::string command = "c" + style.substr(1) + " within";
  const int first = iarg;
  args.region.kind = Parse::choose(command, iarg, narg, arg, KINDS, lmp->input, error);
  std::map<std::string, int> position;    // index of an argument by field of RegionOptions
  const auto read_number = [&](const char *field, const char *name) {
    if (iarg >= narg) utils::missing_cmd_args(FLERR, command, error);
    if (!utils::is_double(arg[iarg]))
      error->all(FLERR, iarg, "{} within {} must be a number, not '{}'", style, name, arg[iarg]);
    position[field] = iarg;
    return utils::numeric(FLERR, arg[iarg++], false, lmp);
  };
  iarg += 2;
  args.region.lo = read_number("lo", "lower bound");
  args.region.hi = read_number("hi", "upper bound");
  for (std::string word; iarg < narg; iarg += word == "center" ? 1 : 0) {
    word = arg[iarg];
    if (word != "smear" && word != "center") break;
    if (++iarg >= narg) utils::missing_cmd_args(FLERR, command + " " + word, error);
    if (word == "smear")
      args.region.smear = read_number("smear", "smear");
    else {
      args.center = arg[iarg];
      position["center"] = iarg;
      if (lmp->group->find(args.center) < 0)
        error->all(FLERR, iarg,
                   "{} within center: group {} does not exist - define it before the compute",
                   style, args.center);
    }
  }
  const bool needs_center = args.region.kind == Kind::R;
  const char *const kind = arg[first + 1];
  if (!position.count("smear"))
    error->all(FLERR, first, "{0} within needs smear, for example: within {1} {2} {3} smear 1.0{4}",
               style, kind, arg[first + 2], arg[first + 3],
               needs_center && args.center.empty() ? " center solute" : "");
  if (needs_center && args.center.empty())
    error->all(FLERR, first,
               "{} within r needs the group whose center of mass is the center, for example: "
               "within r {} {} smear {} center solute",
               style, arg[first + 2], arg[first + 3], arg[position["smear"]]);
  if (!needs_center && !args.center.empty())
    error->all(FLERR, position["center"],
               "{} within {} takes no center - leave center out, or use within r", style, kind);
  try {
    check_options(args.region);
  } catch (const gpucoord::OptionError &e) {
    error->all(FLERR, position[e.field], "{} within {}: {}", style, kind, e.what());
  }
  return args;
}

/* ---------------------------------------------------------------------- */

CoordWithin::CoordWithin(LAMMPS *lmp, const std::string &owner_in, WithinArguments args_in,
                         bool is_mean_in) :
    Pointers(lmp),
    owner(owner_in), args(std::move(args_in)), is_mean(is_mean_in)
{
}

void CoordWithin::init()
{
  if (!args.center.empty()) {
    const int igroup = group->find(args.center);
    if (igroup < 0)
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: group {} no longer exists - keep it while the compute uses it", owner,
                 args.center);
    bit = group->bitmask[igroup];
  }
  region();
}

std::string CoordWithin::description() const
{
  const gpucoord::RegionOptions &o = args.region;
  return fmt::format("within {} {:.10g} to {:.10g}{} smear {:.10g}", Parse::name_of(o.kind, KINDS),
                     o.lo, o.hi, args.center.empty() ? "" : " of the center of " + args.center,
                     o.smear);
}

gpucoord::SmoothRegion CoordWithin::region() const
{
  gpucoord::RegionBox box;
  get_box_edges(domain, box.edges);
  std::copy_n(domain->boxlo, 3, box.lower);
  for (int c = 0; c < 3; ++c) box.periodic[c] = domain->periodicity[c] != 0;
  try {
    return make_region(args.region, box, center_of_mass);
  } catch (const std::invalid_argument &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: within {}: {}", owner,
               Parse::name_of(args.region.kind, KINDS), e.what());
  }
}

/* ----------------------------------------------------------------------
   the center, which image flags join
------------------------------------------------------------------------- */

void CoordWithin::find_center()
{
  double mine[4] = {}, all[4], x[3];
  for (int i = 0; i < atom->nlocal; ++i) {
    if (!(atom->mask[i] & bit)) continue;
    domain->unmap(atom->x[i], atom->image[i], x);
    for (int c = 0; c < 3; ++c) mine[c] += mass_of(atom, i) * x[c];
    mine[3] += mass_of(atom, i);
  }
  MPI_Allreduce(mine, all, 4, MPI_DOUBLE, MPI_SUM, world);
  mass = all[3];
  if (!(mass > 0.0))
    error->all(FLERR, Error::NOLASTLINE,
               "{}: within r: group {} has no center, because it has no atoms with a mass", owner,
               args.center);
  for (int c = 0; c < 3; ++c) center_of_mass[c] = all[c] / mass;
}

// Adds the derivatives by the position of the center to the atoms of its group.
void CoordWithin::add_center(const double *force, unsigned want, double *peratom) const
{
  const std::size_t columns = gpucoord::peratom_columns(want);
  for (int i = 0; i < atom->nlocal; ++i)
    for (int c = 0; c < 3 && (atom->mask[i] & bit); ++c)
      peratom[columns * i + 1 + c] += mass_of(atom, i) / mass * force[c];
}

/* ---------------------------------------------------------------------- */

void CoordWithin::begin(const std::vector<int> &rows)
{
  if (bit) find_center();
  const std::size_t n = rows.size();
  w.resize(n);
  gradient.resize(3 * n);
  strain.resize(6 * n);
  const gpucoord::SmoothRegion in_box = region();
  if (n > 0)
    evaluate_region(in_box, static_cast<std::int64_t>(n), rows.data(), &atom->x[0][0],
                    {w.data(), gradient.data(), strain.data()}, comm->nthreads);
}

void CoordWithin::set_sums(double value, double sum_of_w)
{
  if (!is_mean) return;
  double sums[2] = {value, sum_of_w}, all[2];
  MPI_Allreduce(sums, all, 2, MPI_DOUBLE, MPI_SUM, world);
  sum_of_weights = all[1];
  mean_of_f = all[1] > 0.0 ? all[0] / all[1] : 0.0;
}

// With S = A/B, A = sum of w f, B = sum of w: B dS = dA - S dB. The caller divides by B.
void CoordWithin::add(const std::vector<int> &rows, const std::vector<double> &f, double value,
                      unsigned want, double *peratom, gpucoord::Contribution &mine)
{
  set_sums(value, std::accumulate(w.begin(), w.end(), 0.0));
  if (!(want & (gpucoord::DERIVATIVES | gpucoord::VIRIAL))) return;

  std::vector<double> factor(f);
  for (double &one : factor) one -= mean_of_f;
  const std::size_t n = rows.size(), columns = gpucoord::peratom_columns(want);
  for (std::size_t k = 0; k < n; ++k)
    for (int c = 0; c < 6; ++c) {
      const double virial = -factor[k] * strain[6 * k + c];
      mine.virial[c] += virial;
      // Each atom of a pair has the virial of the whole pair.
      if (peratom && columns > 4) peratom[columns * rows[k] + 4 + c] += 2.0 * virial;
    }
  if (peratom)
    gpucoord::add_weight_gradients(static_cast<std::int64_t>(n), rows.data(), factor.data(),
                                   weights(), static_cast<int>(columns), peratom);
  if (!bit || !(want & gpucoord::DERIVATIVES)) return;
  double force[3] = {}, all[3];
  for (std::size_t k = 0; k < n; ++k)
    for (int c = 0; c < 3; ++c) force[c] -= factor[k] * gradient[3 * k + c];
  MPI_Allreduce(force, all, 3, MPI_DOUBLE, MPI_SUM, world);
  if (peratom) add_center(all, want, peratom);
}

double CoordWithin::memory_usage() const
{
  return static_cast<double>(gpucoord::bytes_of(w, gradient, strain));
}
