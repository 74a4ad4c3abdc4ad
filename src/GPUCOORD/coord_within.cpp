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

#include "coord_variable.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_parse.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/pairs.h"

#include "atom.h"
#include "comm.h"
#include "domain.h"
#include "error.h"
#include "group.h"
#include "modify.h"

#include <algorithm>
#include <cstring>
#include <map>
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
      if (utils::is_integer(args.center))
        error->all(FLERR, iarg,
                   "{} within center: {} must be a group whose name is not a number - rename it",
                   style, args.center);
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

CoordWithin::~CoordWithin() = default;

// The style of the owner selects the variant of coord/geometry for KOKKOS. With its name, messages
// are those of the owner.
void CoordWithin::make_center(char *id, char *style)
{
  if (group->find(args.center) < 0)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: group {} no longer exists - keep it while the compute uses it", owner,
               args.center);
  std::vector<std::string> words = {"all"};
  for (const char *axis : {"x", "y", "z"})
    words.insert(words.end(), {"position", axis, args.center});
  std::vector<char *> arg = {id, words[0].data(), style};
  for (std::size_t k = 1; k < words.size(); ++k) arg.push_back(words[k].data());
  const char *const suffix = strstr(style, "/kk");
  const auto make = modify->compute_map->at(std::string("coord/geometry") + (suffix ? suffix : ""));
  center_of_mass.reset(
      dynamic_cast<CoordVariable *>(make(lmp, static_cast<int>(arg.size()), arg.data())));
  center_of_mass->be_part();
}

void CoordWithin::init(char *id, char *style)
{
  if (!center_of_mass && !args.center.empty()) make_center(id, style);
  if (center_of_mass) {
    center_of_mass->init();
    center_of_mass->init_flags();    // LAMMPS does not know this compute
  }
  center_on_device = nullptr;
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
  double center[3] = {};
  for (int c = 0; c < 3 && center_of_mass && !center_on_device; ++c)
    center[c] = center_of_mass->value(c);
  try {
    gpucoord::SmoothRegion in_box = make_region(args.region, box, center);
    in_box.center_on_device = center_on_device;
    return in_box;
  } catch (const std::invalid_argument &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: within {}: {}", owner,
               Parse::name_of(args.region.kind, KINDS), e.what());
  }
}

/* ---------------------------------------------------------------------- */

// The announcement of KOKKOS would make all variables read their positions again.
void CoordWithin::find_center(unsigned want, bool is_for_forces)
{
  if (!center_of_mass) return;
  center_of_mass->CoordVariable::announce(want);
  center_of_mass->start(is_for_forces);
  std::vector<double> mine(center_of_mass->nsums(want)), all(mine.size());
  center_of_mass->get_local_sums(mine.data());
  MPI_Allreduce(mine.data(), all.data(), static_cast<int>(all.size()), MPI_DOUBLE, MPI_SUM, world);
  center_of_mass->finish(all.data());
  center_on_device = nullptr;
}

void CoordWithin::enqueue_center()
{
  if (!center_of_mass) return;
  center_of_mass->CoordVariable::announce(gpucoord::DERIVATIVES);
  center_on_device = center_of_mass->enqueue().sum;
  center_of_mass->join_stream();
}

void CoordWithin::begin(const std::vector<int> &rows, bool is_for_forces)
{
  find_center(gpucoord::DERIVATIVES | CollectiveVariable::ON_HOST, is_for_forces);
  const std::size_t n = rows.size();
  w.resize(n);
  gradient.resize(3 * n);
  strain.resize(6 * n);
  const gpucoord::SmoothRegion in_box = region();
  if (n > 0)
    evaluate_region(in_box, static_cast<std::int64_t>(n), rows.data(), &atom->x[0][0],
                    {w.data(), gradient.data(), strain.data()}, comm->nthreads);
}

// With S = A/B, A = sum of w f, B = sum of w: B dS = dA - S dB. The caller divides by B. The center
// moves against the atoms.
void CoordWithin::add_sums(double value, const gpucoord::RegionSums &sums,
                           gpucoord::Contribution &mine)
{
  if (is_mean || center_of_mass) {
    double here[8] = {value, sums.w}, all[8];
    std::copy_n(sums.gradient, 3, here + 2);
    std::copy_n(sums.f_gradient, 3, here + 5);
    MPI_Allreduce(here, all, 8, MPI_DOUBLE, MPI_SUM, world);
    sum_of_weights = all[1];
    if (is_mean) mean_of_f = all[1] > 0.0 ? all[0] / all[1] : 0.0;
    for (int c = 0; c < 3; ++c) of_center[c] = mean_of_f * all[2 + c] - all[5 + c];
  }
  for (int c = 0; c < 6; ++c) mine.virial[c] -= sums.f_strain[c] - mean_of_f * sums.strain[c];
}

gpucoord::ItemFactors CoordWithin::center_factors(double factor) const
{
  gpucoord::ItemFactors factors;
  factors.host = factor;
  factors.on_host = of_center;
  factors.n = 3;
  return factors;
}

void CoordWithin::add(const std::vector<int> &rows, const std::vector<double> &f, double value,
                      unsigned want, double *peratom, gpucoord::Contribution &mine)
{
  const std::size_t n = rows.size(), columns = gpucoord::peratom_columns(want);
  gpucoord::RegionSums sums;
  for (std::size_t k = 0; k < n; ++k) {
    sums.w += w[k];
    for (int c = 0; c < 3; ++c) {
      sums.gradient[c] += gradient[3 * k + c];
      sums.f_gradient[c] += f[k] * gradient[3 * k + c];
    }
    for (int c = 0; c < 6; ++c) {
      sums.strain[c] += strain[6 * k + c];
      sums.f_strain[c] += f[k] * strain[6 * k + c];
    }
  }
  add_sums(value, sums, mine);
  if (!peratom) return;

  std::vector<double> factor(f);
  for (double &one : factor) one -= mean_of_f;
  for (std::size_t k = 0; k < n && columns > 4; ++k)
    for (int c = 0; c < 6; ++c)    // each atom of a pair has the virial of the whole pair
      peratom[columns * rows[k] + 4 + c] -= 2.0 * factor[k] * strain[6 * k + c];
  gpucoord::add_weight_gradients(static_cast<std::int64_t>(n), rows.data(), factor.data(),
                                 weights(), static_cast<int>(columns), peratom);
  double *of_atoms[] = {peratom, peratom + columns};
  if (center_of_mass) center_of_mass->add_gradients(center_factors(1.0), of_atoms, 1);
}

double CoordWithin::memory_usage() const
{
  return static_cast<double>(gpucoord::bytes_of(w, gradient, strain)) +
      (center_of_mass ? center_of_mass->memory_usage() : 0.0);
}
