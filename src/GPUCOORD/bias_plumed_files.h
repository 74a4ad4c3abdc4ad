/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_FILES_H
#define LMP_BIAS_PLUMED_FILES_H

#include "bias_plumed_input.h"

#include "gpucoord/archive.h"
#include "gpucoord/trim_file.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Files to which PLUMED appends lines, as far as its input names them. PLUMED does not check that
// they are complete, or that no other run writes them. All functions except save() and load() are
// called on rank 0 only, and throw std::runtime_error with the way out.

class PlumedFiles {
 public:
  using Print = std::function<void(const std::string &)>;

  // Returns the names of the files that an action of PLUMED writes hills to: none if it writes no
  // hills, or if several programs write to them.
  static std::vector<std::string> of_hills(const PlumedInput::Action &);
  void add(const PlumedInput::Action &);

  // Before PLUMED opens its files. Raises an error if another run or fix writes them.
  void check_locks();
  // Whether PLUMED reads its files of an earlier run and appends to them.
  bool continues(bool is_restarted) const;
  // Raises an error unless the files have the lines that they had when the restart file was
  // written. time: of the restart file, in PLUMED's unit. half_step: half a timestep
  void check(double time, double half_step, const Print &) const;
  // Removes incomplete lines, and lines after this time from files of hills.
  void trim(double time, const Print &) const;

  // After PLUMED has opened its files.
  void begin();
  // After PLUMED has flushed its files. Raises an error if lines are missing.
  void read();

  // Contents of the files at the last read(). Before begin(), those in the restart file.
  void save(gpucoord::Archive &) const;
  void load(gpucoord::Archive &);

 private:
  // Each use includes those before it.
  enum Use {
    WRITTEN,      // no other run may write it
    APPENDED,     // a run that continues appends to it
    DEPOSITED,    // it has hills
    TRIMMED,      // a restarted run removes later hills
    READ          // a run that continues reads the hills
  };
  struct File {
    std::string name;
    Use use;
  };
  struct State {
    std::string read, written;    // STATE_RFILE and STATE_WFILE of an action of OPES
  };
  struct Saved {
    std::string name;
    gpucoord::LinesOfFile lines;
  };

  void add_file(const std::string &name, Use);
  const Saved *find(const std::string &name) const;
  void check_hills(const std::string &name, const Print &) const;
  void check_state(const State &, double time, double half_step) const;

  std::vector<File> files;
  std::vector<State> states;
  enum { AS_THE_FIX, YES, NO } restart = AS_THE_FIX;    // PLUMED's command RESTART
  std::vector<std::unique_ptr<gpucoord::AppendedFile>> open_files;
  std::vector<Saved> saved;
  bool has_saved = false;    // the restart file has the contents of files
};

}    // namespace LAMMPS_NS

#endif
