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
#include "gpucoord/bias.h"
#include "gpucoord/trim_file.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace LAMMPS_NS {

// Files that PLUMED writes, as far as its input names them. PLUMED does not check that they are
// complete, or that no other run writes them. All functions except save() and load() are called on
// rank 0 only, and throw std::runtime_error with the way out.

class PlumedFiles {
 public:
  using Print = std::function<void(const std::string &)>;

  void add(const PlumedInput::Action &);
  void add_log(const std::string &name);
  // Returns all files. Leaves out devices, and files of hills that several programs may write.
  std::vector<gpucoord::Bias::File> written() const;

  // Before PLUMED opens its files. Raises an error if another run or fix writes them. Other runs
  // wait here until the result is destroyed.
  std::unique_ptr<gpucoord::FolderLock> check_locks();
  // Sets whether LAMMPS has read a restart file with this fix.
  void set_restarted(bool is_restarted);
  // Returns whether PLUMED reads files of an earlier run or appends to them.
  bool any_continues() const;
  // Raises an error unless the files have the lines that they had when the restart file was
  // written. time: of the restart file, in PLUMED's unit. half_step: half a timestep
  void check(double time, double half_step, const Print &) const;
  // Removes incomplete lines. From files of hills of a restarted run, also removes the lines that
  // the restart file does not know. It may know only their time.
  void trim(bool is_restarted, double time, const Print &) const;

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
    REPLACED,     // PLUMED makes a new file in its place
    WRITTEN,      // no other run may write it
    APPENDED,     // a run that continues appends to it
    DEPOSITED,    // it has hills
    TRIMMED,      // a restarted run removes later hills
    READ          // a run that continues reads the hills
  };
  struct File {
    std::string kind, name;    // "file of hills"
    Use use;
    bool continues;    // PLUMED appends to the file of an earlier run
  };
  struct State {
    std::string read, written;    // STATE_RFILE and STATE_WFILE of an action of OPES, or ""
    bool continues;
  };
  struct Saved {
    std::string name;
    gpucoord::LinesOfFile lines;
  };

  // Returns the names of the files that an action of PLUMED writes hills to: none if it writes no
  // hills, or if several programs write to them.
  static std::vector<std::string> of_hills(const PlumedInput::Action &);
  void add_file(const std::string &kind, const std::string &name, Use, bool continues);
  const Saved *find(const std::string &name) const;
  void check_hills(const std::string &name, const Print &) const;
  bool has_saved_lines(const std::string &name) const;
  void check_folder(const std::string &name) const;
  void check_state(const State &, double time, double half_step) const;

  std::vector<File> files;
  std::vector<State> states;
  enum { AS_THE_FIX, YES, NO } restart = AS_THE_FIX;    // PLUMED's command RESTART
  std::vector<std::unique_ptr<gpucoord::AppendedFile>> open_files;
  std::string folder;    // working folder when PLUMED opened the files
  std::vector<Saved> saved;
};

}    // namespace LAMMPS_NS

#endif
