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

#include "order_definition.h"

#include <stdexcept>

using namespace LAMMPS_NS;

static const OrderStyle *const STYLES[] = {&ENVSIM_STYLE, &ORIENTORDER_STYLE, &PAIRENTROPY_STYLE};

const OrderStyle &OrderStyle::find(const std::string &name)
{
  for (const OrderStyle *const style : STYLES)
    if (name.substr(0, name.find("/kk")) == style->name) return *style;
  throw std::invalid_argument("OrderStyle::find");
}
