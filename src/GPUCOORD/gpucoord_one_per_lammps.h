/* -*- c++ -*- ----------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#ifndef LMP_GPUCOORD_ONE_PER_LAMMPS_H
#define LMP_GPUCOORD_ONE_PER_LAMMPS_H

#include <map>
#include <memory>

namespace LAMMPS_NS {
class LAMMPS;

// One object of a class per LAMMPS instance. It exists as long as a style uses it. Its destructor
// calls remove().

template <class Object> class OnePerLammps {
 public:
  static std::shared_ptr<Object> get(LAMMPS *lmp)
  {
    auto &known = all()[lmp];
    auto object = known.lock();
    if (!object) known = object = std::make_shared<Object>(lmp);
    return object;
  }
  static void remove(LAMMPS *lmp) { all().erase(lmp); }

 private:
  static std::map<LAMMPS *, std::weak_ptr<Object>> &all()
  {
    static std::map<LAMMPS *, std::weak_ptr<Object>> objects;
    return objects;
  }
};

}    // namespace LAMMPS_NS

#endif
