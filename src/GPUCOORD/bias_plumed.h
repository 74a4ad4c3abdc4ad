/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_H
#define LMP_BIAS_PLUMED_H

#include "gpucoord/bias.h"

#include "bias_plumed_exchange.h"
#include "bias_plumed_files.h"
#include "bias_plumed_units.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {
class PlumedInput;

// The bias that PLUMED computes from its own input. PLUMED reads the variables with its action
// EXTRACV, and may request atoms. PLUMED runs on rank 0.
//
// An evaluation on rank 0 calls prepare(), set_atoms() and evaluate(). All ranks get the results.

class PlumedBias : public gpucoord::Bias {
 public:
  struct Settings {
    std::string file, log_file;        // PLUMED's input and log; "": log to the standard output
    std::vector<std::string> names;    // NAME of EXTRACV, one per variable
    double kbt = 0.0;                  // energy; 0: not given
    PlumedUnits::Caller units;
    std::int64_t checksum = 0;    // identifies the text of the input
    bool may_use_atoms = true;    // the input may request atoms
  };
  // kernel, input: only on rank 0, null on the others. Throws std::runtime_error if the input is
  // wrong.
  PlumedBias(const gpucoord::BiasContext &, const Settings &, std::shared_ptr<const PlumedKernel>,
             const PlumedInput *);

  // Number of PLUMED's atoms: the largest atom ID, and at least 1, because PLUMED has no box
  // without atoms. Set on all ranks before begin().
  int natoms() const { return number_of_atoms; }
  void set_natoms(int n) { number_of_atoms = n; }

  bool may_use_atoms() const { return settings.may_use_atoms; }

  std::string formula(std::int64_t first_step) const override;
  bool on_rank_0() const override { return true; }
  bool needs_host(const gpucoord::Step &) const override { return true; }
  std::string memory_advice() const override;
  double temperature() const override { return settings.kbt / context.boltzmann; }
  std::size_t bytes() const override { return exchange.bytes(); }
  std::vector<File> written_files() const override { return files.written(); }
  void begin(const gpucoord::BiasStart &) override;
  void save(gpucoord::ArchiveParts &) const override;
  void load(gpucoord::ArchiveParts &) override;

  static constexpr std::int64_t NONE = -1;
  // Timestep whose forces are known, with their variables, atoms and box; NONE: there is no such
  // timestep. The caller sets it on all ranks.
  std::int64_t known_step() const { return static_cast<std::int64_t>(now.own[1]); }
  void set_known_step(std::int64_t step) { now.own[1] = static_cast<double>(step); }
  // Rank 0. Returns whether PLUMED updated its state in this timestep.
  bool is_done(std::int64_t step) const { return static_cast<double>(step) == now.own[0]; }
  // Rank 0. Sets whether PLUMED updates its state at the next setup: deposits hills, prints, moves
  // restraints.
  void update_at_setup(bool updates) { updates_at_setup = updates; }

  using Matrix = PlumedExchange::Matrix;
  using Needs = PlumedExchange::Needs;
  using Atoms = PlumedExchange::Atoms;
  // Rank 0. box: rows are the box edges. is_checkpoint: PLUMED writes its state after the
  // evaluation. Throws std::runtime_error.
  const Needs &prepare(std::int64_t timestep, const Matrix &box, bool is_checkpoint);
  // Rank 0. Passes the data of the requested atoms, in the order of Needs::atoms. x: [3 n]
  void set_atoms(const std::vector<double> &x, const std::vector<double> &mass,
                 const std::vector<double> &charge)
  {
    exchange.set_atoms(x, mass, charge);
  }

  // Rank 0. Reads the files that PLUMED writes. Called at the end of a run, which may be early.
  // Throws std::runtime_error if lines are missing.
  void read_files();

  // Valid after evaluate() on rank 0. The caller sends it to all ranks.
  Atoms &atoms() { return exchange.atoms(); }

 private:
  double potential(const gpucoord::Step &, const double *s, double *dVdS) override;
  std::string too_large() const override { return "bias in the PLUMED file " + settings.file; }
  void check_periods(const PlumedInput &);
  void check_input(const PlumedInput &);
  void prepare_files(bool is_restarted);

  const Settings settings;
  std::string lines_of_periods;    // for formula()
  int number_of_atoms = 1;
  const std::shared_ptr<const PlumedKernel> kernel;
  PlumedUnits units;
  PlumedExchange exchange;
  PlumedFiles files;
  bool is_flushed = false;          // PLUMED flushes its files in this evaluation
  bool has_unread_files = false;    // PLUMED may have written to them since files.read()
  bool updates_at_setup = true;
  double saved_timestep = 0.0;    // timestep of the run that wrote the restart file
};

}    // namespace LAMMPS_NS

#endif
