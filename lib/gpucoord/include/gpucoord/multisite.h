// Part of GPUCOORD, GPL-2.0. Rigid molecules of Lennard-Jones centres, point charges, point dipoles and point quadrupoles: the
// physics of ls1-MarDyn (C. Niethammer et al., J. Chem. Theory Comput. 10, 4455 (2014)).
//
// All numbers are in the caller's units.

#ifndef GPUCOORD_MULTISITE_H
#define GPUCOORD_MULTISITE_H

#include "gpucoord/coordination.h"

#include <array>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

// Sites in the frame of the molecule, whose origin is its centre of mass.
struct LennardJonesSite {
  std::array<double, 3> position;    // distance
  double epsilon, sigma;             // energy, distance
};
struct ChargeSite {
  std::array<double, 3> position;    // distance
  double charge;
};
struct AxialSite {                   // dipole or quadrupole
  std::array<double, 3> position;    // distance
  std::array<double, 3> axis;        // of any length but 0
  double moment;                     // charge * distance, or charge * distance^2
};

// A kind of molecule.
struct Component {
  std::string name;
  double mass = 0.0;
  std::array<double, 3> inertia = {};    // moments about the axes of its frame, mass * distance^2; 0 where all mass is on an axis
  std::vector<LennardJonesSite> centres;
  std::vector<ChargeSite> charges;
  std::vector<AxialSite> dipoles, quadrupoles;
};

// The components of a file, in its order; 'name' is for messages. Throws std::invalid_argument with the line. A '#' begins a
// comment; each line is one of
//   component NAME
//   mass M
//   inertia Ix Iy Iz
//   centre x y z epsilon sigma
//   charge x y z q
//   dipole x y z ex ey ez mu
//   quadrupole x y z ex ey ez Q
// where all but the first belong to the component before. A component must have a mass; one without sites MultisiteModel
// refuses.
std::vector<Component> read_components(std::istream &, const std::string &name);

// Of unlike components: epsilon = xi sqrt(epsilon_i epsilon_j), sigma = eta (sigma_i + sigma_j) / 2.
struct Mixing {
  double xi = 1.0, eta = 1.0;
};

struct MultisiteOptions {
  double cutoff = 0.0;               // of Lennard-Jones, between centres of mass, distance
  double cutoff_charge = 0.0;        // of the others
  bool shift = false;                // Lennard-Jones terms are 0 at the cutoff
  double reaction_field = 1.0;       // dielectric constant around dipoles, 1: none; may be infinite
  double coulomb = 1.0;              // energy * distance / charge^2
};

// What a pair of sites is given by.
struct PairOfCentres {
  double four_epsilon, sigma_sq, shift;    // energy, distance^2, energy
};

// Components and how they interact. Throws std::invalid_argument.
class MultisiteModel {
 public:
  MultisiteModel(std::vector<Component>, const MultisiteOptions &);
  void set_mixing(int i, int j, const Mixing &);

  const std::vector<Component> &components() const { return all; }
  const MultisiteOptions &options() const { return settings; }
  PairOfCentres centres(int i, int a, int j, int b) const;    // centre a of component i, b of j
  double reaction_field_factor() const;                       // the energy is - this mu_i mu_j (e_i.e_j)

 private:
  std::vector<Component> all;
  MultisiteOptions settings;
  std::vector<Mixing> mixing;    // [components][components]
};

// Molecules of one rank, owned first, then ghosts.
struct Molecules {
  const double *x = nullptr;             // [nall][3] centres of mass, distance
  const double *quaternion = nullptr;    // [nall][4] w x y z, of length 1: from the molecule's frame to that of space
  const int *component = nullptr;        // [nall]
  int nlocal = 0, nall = 0;
};

// Sums over the owned molecules; pairs count half at either end.
struct MultisiteSums {
  double lennard_jones = 0.0, electrostatic = 0.0, reaction_field = 0.0;    // energy; electrostatic: without reaction field
  double virial[6] = {};                 // xx yy zz xy xz yz of centres of mass, energy
};

class Multisite {
 public:
  virtual ~Multisite() = default;
  // force, torque: [nlocal][3], are added to; torque about the centre of mass, in the frame of space
  virtual MultisiteSums evaluate(const Molecules &, bool virial, double *force, double *torque) = 0;
};

// Pair terms are float in mixed and in single; sums over partners of a chunk are added up in double.
std::unique_ptr<Multisite> make_host_multisite(const MultisiteModel &, Precision, int nthreads);

// Plain loops over all pairs, to check backends against. force, torque: [nlocal][3], are added to.
MultisiteSums reference_multisite(const MultisiteModel &, const Molecules &, double *force, double *torque);

}    // namespace gpucoord

#endif
