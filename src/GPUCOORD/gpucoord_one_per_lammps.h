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
#include <mutex>

namespace LAMMPS_NS {
class LAMMPS;

// One object of a class per LAMMPS instance. It exists as long as a style uses it. Its destructor
// calls remove(). The LAMMPS instances of a process may run in several threads.

template <class Object> class OnePerLammps {
 public:
  // Must not be called by the constructor of Object.
  static std::shared_ptr<Object> get(LAMMPS *lmp)
  {
    auto &objects = Objects::instance();
    const std::lock_guard<std::mutex> lock(objects.mutex);
    auto &known = objects.of[lmp];
    auto object = known.lock();
    if (!object) known = object = std::make_shared<Object>(lmp);
    return object;
  }
  static void remove(LAMMPS *lmp)
  {
    auto &objects = Objects::instance();
    const std::lock_guard<std::mutex> lock(objects.mutex);
    objects.of.erase(lmp);
  }

 private:
  struct Objects {
    std::mutex mutex;
    std::map<LAMMPS *, std::weak_ptr<Object>> of;

    static Objects &instance()
    {
      static Objects objects;
      return objects;
    }
  };
};

}    // namespace LAMMPS_NS

#endif
