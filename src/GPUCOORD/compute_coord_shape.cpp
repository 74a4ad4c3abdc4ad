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

#include "compute_coord_shape.h"

#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"
#include "gpucoord_parse.h"

#include "gpucoord/bytes_of.h"
#include "gpucoord/printable.h"

#include "atom.h"
#include "error.h"
#include "group.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>
#include <utility>

using namespace LAMMPS_NS;
using gpucoord::Unwrap;
using Kind = gpucoord::ShapeOptions::Kind;
using Parse::choose;

static constexpr const char *COMMAND = "compute coord/shape", *OWNER = "Compute coord/shape";

/* ----------------------------------------------------------------------
   compute ID all coord/shape gyration|rmsd group [keyword value ...]
------------------------------------------------------------------------- */

ComputeCoordShape::ComputeCoordShape(LAMMPS *lmp, int narg, char **arg) :
    CoordMembers(lmp, narg, arg), by_mass(true)
{
  if (strcmp(arg[1], "all") != 0)
    error->all(FLERR, 1,
               "{} group must be all, not {}: the second group selects the atoms - use group all",
               OWNER, arg[1]);
  if (narg < 5)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "{} needs gyration or rmsd and a group - such as gyration all", OWNER);
  options.kind = choose<Kind>(COMMAND, 2, narg, arg,
                              {{"gyration", Kind::GYRATION}, {"rmsd", Kind::RMSD}}, input, error);
  const bool is_rmsd = options.kind == Kind::RMSD;
  group_name = arg[4];
  if (group->find(group_name) < 0)
    error->all(FLERR, 4, "{} group {} does not exist - define it before the compute", OWNER,
               group_name);
  int reference_position = 0;
  for (int iarg = 5; iarg < narg; iarg += 2) {
    const std::string keyword = arg[iarg];
    const std::string command = fmt::format("{} {}", COMMAND, keyword);
    if (keyword == "weights")
      by_mass = choose<bool>(command, iarg, narg, arg, {{"mass", true}, {"geometry", false}}, input,
                             error);
    else if (keyword == "unwrap")
      options.unwrap =
          choose<Unwrap>(command, iarg, narg, arg,
                         {{"image", Unwrap::IMAGE}, {"nearest", Unwrap::NEAREST}}, input, error);
    else if (keyword == "squared")
      options.squared =
          choose<bool>(command, iarg, narg, arg, {{"yes", true}, {"no", false}}, input, error);
    else if (keyword == "reference" && is_rmsd) {
      if (iarg + 2 > narg) utils::missing_cmd_args(FLERR, command, error);
      reference_position = iarg + 1;
      reference_name = arg[reference_position];
    } else
      error->all(FLERR, iarg,
                 "{} {} has no keyword '{}' - keywords are {}weights, unwrap and "
                 "squared",
                 OWNER, arg[3], keyword, is_rmsd ? "reference, " : "");
  }
  if (is_rmsd && !reference_position)
    error->all(FLERR, LammpsCompat::WHOLE_COMMAND,
               "{} rmsd needs reference positions - give reference FILE, with a line ID x y z for "
               "each atom",
               OWNER);
  if (is_rmsd) read_reference(reference_position);
  try {
    shape = std::make_unique<gpucoord::Shape>(options);
  } catch (const gpucoord::OptionError &e) {
    error->all(FLERR, reference_position, "{} reference {} cannot be used: {}", OWNER,
               reference_name, e.what());
  }
  Point point;
  point.group = group_name;
  point.by_mass = by_mass;
  point.has_own_references = is_rmsd;
  set_points({point}, options.unwrap);
}

// All ranks find the same errors in the same text.
void ComputeCoordShape::read_reference(int iarg)
{
  std::string failure;
  std::istringstream lines(read_and_broadcast(reference_name, failure, world));
  if (!failure.empty())
    error->all(FLERR, iarg, "{} reference {} cannot be used: {}", OWNER, reference_name, failure);
  struct Position {
    int line;
    double x[3];
  };
  std::map<tagint, Position> positions;
  int number = 0;
  const auto fail = [&](const std::string &why) {
    error->all(FLERR, iarg, "{} reference {}: {} in line {}", OWNER, reference_name,
               gpucoord::printable(why), number);
  };
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto words = Parse::in_line(line);
    if (words.empty()) continue;
    if (words.size() != 4)
      fail(fmt::format("{} word{} given but ID x y z are needed", words.size(),
                       words.size() == 1 ? " is" : "s are"));
    const double id = utils::is_integer(words[0]) ? std::stod(words[0]) : 0.0;
    if (!(id >= 1.0 && id <= static_cast<double>(MAXTAGINT)))
      fail(fmt::format("'{}' is not an atom ID, an integer from 1 to {},", words[0], MAXTAGINT));
    Position position = {number, {}};
    for (int c = 0; c < 3; ++c) {
      const std::string &word = words[1 + c];
      position.x[c] = Parse::number_of(word);
      if (!std::isfinite(position.x[c])) fail(fmt::format("'{}' is not a finite number", word));
    }
    const auto added = positions.emplace(utils::tnumeric(FLERR, words[0], false, lmp), position);
    if (!added.second)
      fail(fmt::format("atom ID {} is in line {} already, use one line for each atom,", words[0],
                       added.first->second.line));
  }
  for (const auto &one : positions) {
    reference_ids.push_back(one.first);
    options.reference.insert(options.reference.end(), one.second.x, one.second.x + 3);
  }
}

/* ---------------------------------------------------------------------- */

std::string ComputeCoordShape::set_own_references()
{
  if (options.kind == Kind::GYRATION) return "";
  tagint missing = 0, any;
  for (auto &member : members) {
    const tagint id = atom->tag[member.row];
    const auto found = std::lower_bound(reference_ids.begin(), reference_ids.end(), id);
    const bool is_there = found != reference_ids.end() && *found == id;
    member.reference = is_there ? static_cast<int>(found - reference_ids.begin()) : 0;
    if (!is_there) missing = MAX(missing, id);
  }
  MPI_Allreduce(&missing, &any, 1, MPI_LMP_TAGINT, MPI_MAX, world);
  if (any == 0) return "";
  return fmt::format("atom ID {} of group {} has no position in reference {} - add a line for it, "
                     "or use a group without it",
                     any, group_name, reference_name);
}

std::string ComputeCoordShape::description() const
{
  const char *const squared = options.squared ? "squared " : "";
  const std::string what = options.kind == Kind::GYRATION
      ? fmt::format("{}radius of gyration of group {}", squared, group_name)
      : fmt::format("{}RMSD of group {} from {} after optimal alignment, of {} positions", squared,
                    group_name, reference_name, reference_ids.size());
  return fmt::format("{}, weights {}, atoms joined {}", what, by_mass ? "mass" : "geometry",
                     options.unwrap == Unwrap::IMAGE ? "by image flags" : "as nearest images");
}

std::string ComputeCoordShape::text_of_singular(int item) const
{
  if (item == 1)
    return "two rotations align the atoms with the reference equally well, and the force jumps "
           "from one to the other";
  return options.kind == Kind::GYRATION
      ? "the radius of gyration has no derivative while all atoms are at the same place, so it "
        "exerts no force there"
      : "the RMSD has no derivative at the reference positions, so it exerts no force there";
}

std::string ComputeCoordShape::way_out_of_singular(int item) const
{
  if (item == 1) return "use more atoms, or a reference that is closer to them";
  return options.kind == Kind::GYRATION ? "use a group of several atoms, or squared yes"
                                        : "use squared yes if the run stays there";
}

std::unique_ptr<gpucoord::ResidentMembers> ComputeCoordShape::make_resident() const
{
  return gpucoord::make_resident_shape(options, {reference_ids.begin(), reference_ids.end()});
}

double ComputeCoordShape::memory_usage()
{
  return CoordMembers::memory_usage() +
      static_cast<double>(gpucoord::bytes_of(options.reference, reference_ids));
}
