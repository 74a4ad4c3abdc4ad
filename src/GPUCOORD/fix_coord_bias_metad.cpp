/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "fix_coord_bias.h"

#include "bias_arguments.h"

#include "gpucoord/hills_file.h"
#include "gpucoord/metadynamics.h"

#include "comm.h"
#include "error.h"
#include "update.h"

#include <filesystem>
#include <stdexcept>

using namespace LAMMPS_NS;
using Kind = BiasArguments::Kind;

/* ---------------------------------------------------------------------- */

void FixCoordBias::begin_metad()
{
  for (const auto &name : args->variables)
    for (const char *part : {"time", "sigma_", "min_", "max_"})
      if (comm->me == 0 && name.find(part) != std::string::npos)
        error->warning(FLERR,
                       "Fix coord/bias {}: plumed sum_hills cannot read hills of a variable whose "
                       "name contains {}: {}",
                       id, part, name);

  on_rank_0([this] {
    const auto say = [this](const std::string &text) {
      utils::logmesg(lmp, "Fix coord/bias {}: {}\n", id, text);
    };
    auto bias = std::make_unique<gpucoord::Metadynamics>(args->metad);
    auto file = std::make_unique<gpucoord::HillsFile>(args->file, args->metad, "LAMMPS",
                                                      update->unit_style);
    if (!is_restarted && !args->append) {
      if (!args->read_grid.empty())
        throw std::runtime_error(
            "keyword read_grid " + args->read_grid +
            " goes on from an earlier run and needs its hills, too - say append yes");
      const std::string backup = file->create();
      if (!backup.empty())
        say(fmt::format("hills file {} of an earlier run is now {}", args->file, backup));
      metad = std::move(bias);
      hills = std::move(file);
      return;
    }

    if (!std::filesystem::exists(args->file))
      throw std::runtime_error("hills file " + args->file + " does not exist - " +
                               (is_restarted ? "give that of the run that wrote the restart file"
                                             : "say append no for a new one"));
    // everything is checked before anything is changed
    const auto found = file->read(is_restarted ? nhills : gpucoord::HillsFile::ALL);
    if (is_restarted && nhills > 0)
      for (std::size_t v = 0; v < states.size(); ++v)
        if (found.hills.back().center[v] != states[v].s0)
          throw std::runtime_error(fmt::format(
              "hill {} of hills file {} is at c_{} = {}, but the restart file was "
              "written by a run that put it at {} - give the hills file of that run",
              nhills, args->file, args->variables[v], found.hills.back().center[v], states[v].s0));
    bigint first = 0;
    bool has_checksums = true;
    if (!args->read_grid.empty()) {
      try {
        has_checksums = bias->read_grid(args->read_grid, found.hills);
      } catch (const std::runtime_error &e) {
        throw std::runtime_error(
            std::string(e.what()) +
            " - leave out keyword read_grid to take all hills from the hills file");
      }
      first = bias->nhills();
    }
    for (std::size_t h = first; h < found.hills.size(); ++h) bias->add(found.hills[h]);
    if (is_restarted && hills_checksum && *hills_checksum != bias->hills_checksum())
      throw std::runtime_error(
          fmt::format("the first {} hills of hills file {} are not those of the run that wrote the "
                      "restart file: their checksum differs - give the hills file of that run, "
                      "or use another fix ID and append yes for a new run with these hills",
                      nhills, args->file));

    const std::string backup = file->go_on();
    if (!found.damaged.empty())
      error->warning(
          FLERR, "Fix coord/bias {}: removed the last line of hills file {}, which was damaged: {}",
          id, args->file, found.damaged);
    if (found.nlater)
      say(fmt::format("{} hills of {} that are later than the restart file are now in {}",
                      found.nlater, args->file, backup));
    if (!found.hills.empty() && !found.names_units)
      error->warning(
          FLERR,
          "Fix coord/bias {}: hills file {} does not say in which units its heights are - "
          "they are taken to be in units {}",
          id, args->file, update->unit_style);
    if (found.other_biasfactor != 0.0)
      error->warning(FLERR,
                     "Fix coord/bias {}: hills file {} has hills of biasfactor {}, but the fix has "
                     "{} - heights are "
                     "taken by that of the file",
                     id, args->file, found.other_biasfactor, args->metad.biasfactor);
    if (!has_checksums)
      say(fmt::format("grid file {} is of an earlier version without checksums: compared all its "
                      "numbers with the sum of its {} hills",
                      args->read_grid, first));
    if (is_restarted && nhills > 0 && !hills_checksum)
      say(fmt::format("the restart file is of an earlier version without a checksum of the hills: "
                      "compared the place of the last of {} hills only",
                      nhills));
    say(fmt::format("goes on with {} hills of {}{}", found.hills.size(), args->file,
                    first ? fmt::format(", {} of them from grid file {}", first, args->read_grid)
                          : ""));
    if (!found.hills.empty())
      for (std::size_t v = 0; v < states.size(); ++v) {
        states[v].s0 = found.hills.back().center[v];
        states[v].k = found.hills.back().height;
      }
    metad = std::move(bias);
    hills = std::move(file);
  });
  on_rank_0([this] {
    std::error_code none;
    if (!args->write_grid.empty() &&
        std::filesystem::equivalent(args->write_grid, args->file, none))
      throw std::runtime_error("write_grid " + args->write_grid +
                               " is the hills file - give another name");
    // also for a restart file that is written before the first step
    nhills = metad->nhills();
    hills_checksum = metad->hills_checksum();
  });
  share_metad();
  metad_has_begun = true;
}

/* ---------------------------------------------------------------------- */

// A hill is added once a step, even where other commands evaluate forces several times in it.
bool FixCoordBias::is_hill_due(Evaluation moment) const
{
  return args->kind == Kind::METAD && moment == Evaluation::LAST_OF_STEP &&
      update->ntimestep % args->pace == 0 && update->ntimestep > last_hill_step;
}

/* ----------------------------------------------------------------------
   Hills are kept on rank 0. A hill is added before the bias of its step is
   taken, so a restart at that step goes on with the same forces.
------------------------------------------------------------------------- */

void FixCoordBias::evaluate_metad(bool adds_hill)
{
  const int n = static_cast<int>(states.size());
  double s[gpucoord::MAX_METAD_VARIABLES], slope[gpucoord::MAX_METAD_VARIABLES];
  on_rank_0([&] {
    for (int v = 0; v < n; ++v) s[v] = states[v].s;
    const auto evaluate = [&] {
      energy = metad->evaluate(s, slope);
      for (int v = 0; v < n; ++v) states[v].slope = slope[v];
      const std::string problem = not_finite(energy);
      if (!problem.empty()) throw std::runtime_error(problem);
    };
    evaluate();
    if (adds_hill) {
      const auto hill = metad->next_hill(s, energy);
      // a run that goes on could not read such a hill
      const std::string problem = not_finite(energy + hill.file_height);
      if (!problem.empty()) throw std::runtime_error(problem);
      // first to the file: a hill that acts is never lost
      const double time =
          update->atime + static_cast<double>(update->ntimestep - update->atimestep) * update->dt;
      hills->append(time, hill, metad->hills());
      metad->add(hill);
      const double before = energy;
      evaluate();
      work += energy - before;
      for (int v = 0; v < n; ++v) {
        states[v].s0 = hill.center[v];
        states[v].k = hill.height;
      }
    }
    if (adds_hill && args->write_grid_every && update->ntimestep % args->write_grid_every == 0)
      metad->write_grid(args->write_grid);
    nhills = metad->nhills();
    hills_checksum = metad->hills_checksum();
  });
  if (adds_hill) last_hill_step = update->ntimestep;
  share_metad();
}

// Sends the state of metadynamics from rank 0 to all ranks.
void FixCoordBias::share_metad()
{
  const int n = static_cast<int>(states.size());
  double share[3 + 3 * gpucoord::MAX_METAD_VARIABLES] = {energy, work, static_cast<double>(nhills)};
  for (int v = 0; v < n; ++v) {
    share[3 + 3 * v] = states[v].slope;
    share[4 + 3 * v] = states[v].s0;
    share[5 + 3 * v] = states[v].k;
  }
  MPI_Bcast(share, 3 + 3 * n, MPI_DOUBLE, 0, world);
  energy = share[0];
  work = share[1];
  nhills = static_cast<bigint>(share[2]);
  for (int v = 0; v < n; ++v) {
    states[v].slope = share[3 + 3 * v];
    states[v].s0 = share[4 + 3 * v];
    states[v].k = share[5 + 3 * v];
  }
}

bool FixCoordBias::needs_host(Evaluation kind) const
{
  return args->kind == Kind::METAD && (args->metad.grid.empty() || is_hill_due(kind));
}
