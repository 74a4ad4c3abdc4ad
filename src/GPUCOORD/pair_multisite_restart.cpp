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

#include "pair_multisite.h"

#include "gpucoord_backend.h"
#include "gpucoord_restart_io.h"
#include "multisite_components.h"

#include "error.h"

#include <string>
#include <utility>
#include <vector>

using namespace LAMMPS_NS;
using gpucoord::Component;

// Version of the format of restart files.
static constexpr int FORMAT = 2;

/* ----------------------------------------------------------------------
   The restart file contains the components. The component file need not exist when it is read.
------------------------------------------------------------------------- */

void PairMultisite::write_restart(FILE *fp)
{
  write_restart_settings(fp);
  RestartWriter out(fp);
  const int n = the_model ? static_cast<int>(the_model->components().size()) : 0;
  out.write(n);
  for (int c = 0; c < n; ++c) MultisiteComponents::write(out, the_model->components()[c]);
  out.write(mixing.data(), mixing.size());
  if (n > 0) out.write(component_of.data(), component_of.size());
}

void PairMultisite::read_restart(FILE *fp)
{
  read_restart_settings(fp);
  allocate();
  RestartReader in(lmp, fp, "Pair multisite");
  const int n = in.size(sizeof(int) + 4 * sizeof(double));    // name, mass, inertia
  if (n == 0) return;
  std::vector<Component> components(n);
  for (Component &one : components) one = MultisiteComponents::read(in);
  mixing.resize(static_cast<std::size_t>(n) * n);
  in.read(mixing.data(), mixing.size());
  in.read(component_of.data(), component_of.size());
  for (const int component : component_of)
    if (component >= n) in.fail();
  const std::string failure = make_model(std::move(components));
  if (!failure.empty())
    error->all(FLERR, Error::NOLASTLINE, "Pair multisite in the restart file: {}", failure);
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j)
      setflag[i][j] = component_of[i] >= 0 && component_of[j] >= 0 ? 1 : 0;
}

void PairMultisite::write_restart_settings(FILE *fp)
{
  RestartWriter out(fp);
  out.write_format(FORMAT);
  given.write(out);
  out.write(modified_shift);
  out.write(modified_tail);
}

void PairMultisite::read_restart_settings(FILE *fp)
{
  RestartReader in(lmp, fp, "Pair multisite");
  in.read_format(FORMAT);
  given = MultisiteArguments(in);
  modified_shift = in.read<int>();
  modified_tail = in.read<int>();
  set_switched();
  const auto device = DeviceChoice::restarted(lmp, given.device, "Pair multisite");
  backend = std::make_unique<MultisiteBackend>(lmp, device, "Pair multisite", Error::NOLASTLINE);
}
