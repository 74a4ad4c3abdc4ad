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

const OrderStyle &OrderStyle::find(const std::string &name)
{
  const std::string style_name = name.substr(0, name.find("/kk"));
#define ORDER_PARAMETER(style, definition, text) \
  if (style_name == #style) return definition;
#include "coord_styles.h"
  throw std::invalid_argument("OrderStyle::find");
}
