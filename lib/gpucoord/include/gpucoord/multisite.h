// Part of GPUCOORD, GPL-2.0. Rigid molecules of Lennard-Jones centers, point charges, point dipoles and point quadrupoles: the
// physics of ls1-MarDyn (C. Niethammer et al., J. Chem. Theory Comput. 10, 4455 (2014)).
//
// All numbers are in the caller's units.

#ifndef GPUCOORD_MULTISITE_H
#define GPUCOORD_MULTISITE_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <array>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

// Sites in the frame of the molecule, whose origin is its center of mass.
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
  std::array<double, 3> inertia =
      {};    // moments about the axes of its frame, mass * distance^2; 0 where all mass is on an axis
  std::vector<LennardJonesSite> centers;
  std::vector<ChargeSite> charges;
  std::vector<AxialSite> dipoles, quadrupoles;
};

// The components of a file, in its order; 'name' is for messages. Throws std::invalid_argument with the line. A '#' begins a
// comment; each line is one of
//   component NAME
//   mass M
//   inertia Ix Iy Iz
//   center x y z epsilon sigma         (or center)
//   charge x y z q
//   dipole x y z ex ey ez mu
//   quadrupole x y z ex ey ez Q
// where all but the first belong to the component before. A component must have a mass; one without sites MultisiteModel
// refuses.
GPUCOORD_API std::vector<Component> read_components(std::istream &, const std::string &name);

// Of unlike components: epsilon = xi sqrt(epsilon_i epsilon_j), sigma = eta (sigma_i + sigma_j) / 2.
struct Mixing {
  double xi = 1.0, eta = 1.0;
};

// Limits of cutoffs and sigma, in the caller's units. Beyond them (sigma / cutoff)^12 comes near the largest double.
constexpr double LEAST_LENGTH = 1e-20, MOST_LENGTH = 1e20;

struct MultisiteOptions {
  double cutoff = 0.0;            // of Lennard-Jones, distance
  double cutoff_charge = 0.0;     // of the others
  bool site_cutoff = false;       // cutoffs are between sites, not between centers of mass
  bool shift = false;             // Lennard-Jones terms are 0 at the cutoff
  double reaction_field = 1.0;    // dielectric constant around dipoles, 1: none; may be infinite
  double coulomb = 1.0;           // energy * distance / charge^2
};

// What a pair of sites is given by.
struct PairOfCenters {
  double four_epsilon, sigma_sq, shift;    // energy, distance^2, energy
};

// What Lennard-Jones sites of pairs of molecules beyond the cutoff add: N_i N_j / V times these, for each ordered pair of
// components, a component with itself included. virial: a third of its trace over pairs, which is what it adds to p V.
struct TailCorrection {
  double energy = 0.0, virial = 0.0;    // energy * distance^3
};

// Components and how they interact. Throws std::invalid_argument.
class GPUCOORD_API MultisiteModel {
 public:
  MultisiteModel(std::vector<Component>, const MultisiteOptions &);
  void set_mixing(int i, int j, const Mixing &);

  const std::vector<Component> &components() const { return all; }
  const MultisiteOptions &options() const { return settings; }
  PairOfCenters centers(int i, int a, int j, int b) const;    // center a of component i, b of j
  double reaction_field_factor() const;    // the energy is - this mu_i mu_j (e_i.e_j)
  // Of a molecule of component i in the reaction field of its own moment, charges included: no part of any sum below.
  double self_energy(int i) const;
  // Beyond the cutoff orientations and places are not correlated (R. Lustig, Mol. Phys. 65, 175 (1988)). Throws
  // std::invalid_argument where a cutoff between centers of mass is not longer than the reach of both molecules together.
  TailCorrection tail(int i, int j) const;
  double
  reach(int i) const;    // the farthest site of component i from its center of mass, distance
  double range(int i, int j) const;    // centers of mass farther apart do not interact, distance
  double range() const;                // the largest of them
  // Throws std::invalid_argument where single precision cannot hold these energies, lengths and strengths.
  void check_float() const;

 private:
  std::vector<Component> all;
  MultisiteOptions settings;
  std::vector<Mixing> mixing;    // [components][components]
};

// Molecules of one rank, owned first, then ghosts.
struct Molecules {
  const double *x = nullptr;    // [nall][3] centers of mass, distance
  const double *quaternion =
      nullptr;    // [nall][4] w x y z, of length 1: from the molecule's frame to that of space
  const int *component = nullptr;    // [nall]
  int nlocal = 0, nall = 0;
};

// Sums over the owned molecules; pairs count half at either end.
struct MultisiteSums {
  double lennard_jones = 0.0, electrostatic = 0.0,
         reaction_field = 0.0;    // energy; electrostatic: without reaction field
  double virial[6] = {};          // xx yy zz xy xz yz of centers of mass, energy
  Timings timings;                // of a GPU
};

// What is added to, by row of the owned molecules. energy and virial may be null: not wanted.
struct MultisiteResults {
  double *force = nullptr;     // [nlocal][3]
  double *torque = nullptr;    // [nlocal][3] about the center of mass, in the frame of space
  double *energy = nullptr;    // [nlocal] half of that of each pair
  double *virial = nullptr;    // [nlocal][6] half of that of each pair: xx yy zz xy xz yz
};

// What is computed beside forces and torques.
enum class MultisiteWant {
  FORCES,
  ALL
};    // ALL: the sums, and energy and virial of each molecule where there is room

class GPUCOORD_API Multisite {
 public:
  virtual ~Multisite() = default;
  // Quaternions and positions must be finite; nothing is checked here.
  virtual MultisiteSums evaluate(const Molecules &, MultisiteWant, const MultisiteResults &) = 0;
};

// How pairs of molecules are met: from both sides, each summing what it gets, or once, with stores to both, by
// cells whose color keeps any two of them from storing to the same molecule at a time.
enum class Traversal { TWICE, ONCE };

// Pair terms are float in mixed and in single; sums over partners of a chunk are added up in double. Bits do not depend on
// the number of threads.
GPUCOORD_API std::unique_ptr<Multisite>
make_host_multisite(const MultisiteModel &, Precision, int nthreads, Traversal = Traversal::TWICE);

// On a GPU; device -1: the one that is current in each call. Throws DeviceError, then or later.
GPUCOORD_API std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &, Precision,
                                                            int device, int nthreads);

// Plain loops over all pairs in double, to check backends against.
GPUCOORD_API MultisiteSums reference_multisite(const MultisiteModel &, const Molecules &,
                                               const MultisiteResults &);

}    // namespace gpucoord

#endif
