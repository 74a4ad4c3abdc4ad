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
#include <set>

using namespace LAMMPS_NS;

namespace {

// Variables of all LAMMPS instances of this process, which may run in several threads.
struct VariableRegistry {
  std::mutex mutex;
  std::map<const CollectiveVariable *, int> serials;
  int last_serial = 0;

  static VariableRegistry &instance()
  {
    static VariableRegistry registry;
    return registry;
  }
  int add(const CollectiveVariable *variable)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    return serials[variable] = ++last_serial;
  }
  void remove(const CollectiveVariable *variable)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    serials.erase(variable);
  }
  bool has(const CollectiveVariable *variable, int serial)
  {
    const std::lock_guard<std::mutex> lock(mutex);
    const auto found = serials.find(variable);
    return found != serials.end() && found->second == serial;
  }
};

}    // namespace

std::string LAMMPS_NS::styles_of_variables()
{
  const std::vector<std::string> styles = {
#define ORDER_PARAMETER(style, definition, text) #style,
#define OTHER_VARIABLE(style, Class, text) #style,
#include "coord_styles.h"
  };
  std::string text = styles[0];
  for (std::size_t k = 1; k < styles.size(); ++k)
    text += (k + 1 < styles.size() ? ", " : " or ") + styles[k];
  return text;
}

CollectiveVariable::CollectiveVariable() : my_serial(VariableRegistry::instance().add(this)) {}

CollectiveVariable::~CollectiveVariable()
{
  VariableRegistry::instance().remove(this);
}

bool CollectiveVariable::is_alive(const CollectiveVariable *variable, int serial)
{
  return VariableRegistry::instance().has(variable, serial);
}

const std::vector<VariableRef> &CollectiveVariable::children() const
{
  static const std::vector<VariableRef> none;
  return none;
}

// Adds variables and their children, each once.
static void collect(const std::vector<VariableRef> &some, std::set<CollectiveVariable *> &all)
{
  for (const VariableRef &one : some)
    if (all.insert(one.compute).second) collect(one.compute->children(), all);
}

std::vector<ScaledForces *> LAMMPS_NS::scaled_forces(const std::vector<VariableRef> &some)
{
  std::set<CollectiveVariable *> all;
  collect(some, all);
  std::vector<ScaledForces *> found;
  for (CollectiveVariable *variable : all)
    if (auto *const forces = dynamic_cast<ScaledForces *>(variable)) found.push_back(forces);
  return found;
}

/* ---------------------------------------------------------------------- */

VariableWord::VariableWord(const std::string &word_in) :
    word(word_in), compute_id(word.substr(2, word.find('[') - 2)),
    brackets(word.find('[') == std::string::npos ? "" : word.substr(word.find('[')))
{
}

// Without brackets, and for text that is no integer from 1 on, the first value.
int VariableWord::item() const
{
  const bool has_item = utils::strmatch(brackets, "^\\[[1-9]\\d*\\]$") && brackets.size() < 11;
  return has_item ? std::stoi(brackets.substr(1)) - 1 : 0;
}

std::string VariableWord::name() const
{
  return brackets.empty() ? compute_id : fmt::format("{}_{}", compute_id, item() + 1);
}

std::string VariableWord::problem(const CollectiveVariable &variable) const
{
  const int size = variable.size();
  if (size == 1) {
    if (brackets.empty()) return "";
    return fmt::format("compute {} has one value, c_{}, so {} does not exist - leave out the "
                       "brackets",
                       compute_id, compute_id, word);
  }
  const std::string way_out = size == 2
      ? fmt::format("use c_{0}[1] or c_{0}[2]", compute_id)
      : fmt::format("use one of c_{0}[1] to c_{0}[{1}]", compute_id, size);
  if (brackets.empty())
    return fmt::format("compute {} has {} values, so {} is not a single value - {}", compute_id,
                       size, word, way_out);
  if (item() >= size || brackets != fmt::format("[{}]", item() + 1))
    return fmt::format("{} does not exist, because compute {} has {} values - {}", word, compute_id,
                       size, way_out);
  return "";
}

VariableRef VariableWord::ref(CollectiveVariable *variable) const
{
  return {variable, variable->serial(), item()};
}

/* ---------------------------------------------------------------------- */

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
