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

#include "gpucoord_variable.h"

#include "gpucoord_lammps_compat.h"

#include "comm.h"
#include "domain.h"

#include <map>
#include <mutex>

using namespace LAMMPS_NS;

namespace {

// Variables of all LAMMPS instances of this process, which may run in several threads.
struct VariableRegistry {
  std::mutex mutex;
  std::map<const CollectiveVariable *, int> numbers;
  int last_number = 0;

  static VariableRegistry &instance()
  {
    static VariableRegistry registry;
    return registry;
  }
  int add(const CollectiveVariable *variable)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    return numbers[variable] = ++last_number;
  }
  void remove(const CollectiveVariable *variable)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    numbers.erase(variable);
  }
  bool has(const CollectiveVariable *variable, int number)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = numbers.find(variable);
    return found != numbers.end() && found->second == number;
  }
};

}    // namespace

CollectiveVariable::CollectiveVariable() : my_number(VariableRegistry::instance().add(this)) {}

CollectiveVariable::~CollectiveVariable()
{
  VariableRegistry::instance().remove(this);
}

bool CollectiveVariable::is_alive(const CollectiveVariable *variable, int number)
{
  return VariableRegistry::instance().has(variable, number);
}

const std::vector<CollectiveVariable *> &CollectiveVariable::children() const
{
  static const std::vector<CollectiveVariable *> none;
  return none;
}

void TriclinicWarning::warn(LAMMPS *lmp, const std::string &name, const char *vectors)
{
  if (warned || !LammpsCompat::is_general_triclinic(lmp->domain)) return;
  warned = true;
  if (lmp->comm->me == 0)
    lmp->error->warning(FLERR,
                        "{}: the box is general triclinic, but per-atom {} are in the "
                        "frame of LAMMPS' restricted triclinic box - use them with positions in "
                        "that frame, as a dump writes them without triclinic/general yes",
                        name, vectors);
}
