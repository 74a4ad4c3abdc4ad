/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_BIAS_PLUMED_KERNEL_H
#define LMP_BIAS_PLUMED_KERNEL_H

#include <memory>
#include <string>

namespace LAMMPS_NS {

// A PLUMED library, loaded at run time. Uses the C entry points of PLUMED 2.5 and later. The
// library stays loaded until the process ends, because PLUMED keeps data of the whole process.

class PlumedKernel {
 public:
  // file: the library, or "" for the library in the environment variable PLUMED_KERNEL. mpi_init:
  // address of the caller's MPI_Init, or null. Throws std::runtime_error with the way out.
  PlumedKernel(const std::string &file, const void *mpi_init);

  const std::string &file() const { return path; }

  struct SymbolTable;
  const SymbolTable &symbols() const { return *table; }

 private:
  std::string path;
  const SymbolTable *table;
};

// One PLUMED object.

class Plumed {
 public:
  explicit Plumed(std::shared_ptr<const PlumedKernel>);
  ~Plumed();    // PLUMED flushes its files
  Plumed(const Plumed &) = delete;
  Plumed &operator=(const Plumed &) = delete;

  // Sends a command of PLUMED's interface for MD programs. Throws std::runtime_error with PLUMED's
  // message.
  void command(const char *key, const void *value = nullptr);
  void command(const std::string &key, const void *value) { command(key.c_str(), value); }

 private:
  std::shared_ptr<const PlumedKernel> kernel;
  void *object;
};

}    // namespace LAMMPS_NS

#endif
