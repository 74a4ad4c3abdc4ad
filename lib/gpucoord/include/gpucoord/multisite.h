// Part of GPUCOORD, GPL-2.0. Rigid molecules of Lennard-Jones centers, point charges, point dipoles
// and point quadrupoles. The model is that of ls1-MarDyn (C. Niethammer et al., J. Chem. Theory
// Comput. 10, 4455 (2014)).
//
// All numbers are in the caller's units.

#ifndef GPUCOORD_MULTISITE_H
#define GPUCOORD_MULTISITE_H

#include "gpucoord/export.h"
#include "gpucoord/types.h"

#include <array>
#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace gpucoord {

// Sites in the frame of the molecule. The origin is the center of mass.
struct LennardJonesSite {
  std::array<double, 3> position;    // distance
  double epsilon, sigma;             // energy, distance
};
struct ChargeSite {
  std::array<double, 3> position;    // distance
  double charge;
};
// Dipole or quadrupole.
struct AxialSite {
  std::array<double, 3> position;    // distance
  std::array<double, 3> axis;        // any length except 0
  double moment;                     // charge * distance, or charge * distance^2
};

// A type of molecule.
struct Component {
  std::string name;
  double mass = 0.0;    // caller's mass units
  // Moments about the axes of the molecule's frame, mass * distance^2. 0 if all mass is on the
  // axis.
  std::array<double, 3> inertia = {};
  std::vector<LennardJonesSite> centers;
  std::vector<ChargeSite> charges;
  std::vector<AxialSite> dipoles, quadrupoles;
};

// Reads the components of a file and returns them in its order. name: name of the file in messages.
// Throws std::invalid_argument with the line number. A '#' begins a comment. Each line is one of
//   component NAME
//   mass M
//   inertia Ix Iy Iz
//   center x y z epsilon sigma         (or centre)
//   charge x y z q
//   dipole x y z ex ey ez mu
//   quadrupole x y z ex ey ez Q
// A line 'component' begins a component. The other lines belong to the most recent component. A
// component must have a mass. MultisiteModel rejects components without sites.
GPUCOORD_API std::vector<Component> read_components(std::istream &, const std::string &name);

// Mixing rules of unlike components: epsilon = xi sqrt(epsilon_i epsilon_j), sigma = eta (sigma_i +
// sigma_j) / 2.
struct Mixing {
  double xi = 1.0, eta = 1.0;
};

// Limits of cutoffs and sigma, in the caller's units. Beyond them, (sigma / cutoff)^12 approaches
// the largest double.
constexpr double MIN_LENGTH = 1e-20, MAX_LENGTH = 1e20;

struct MultisiteOptions {
  double cutoff = 0.0;            // Lennard-Jones, distance
  double cutoff_charge = 0.0;     // charges, dipoles and quadrupoles, distance
  bool site_cutoff = false;       // cutoffs apply between sites instead of centers of mass
  bool shift = false;             // shift Lennard-Jones terms to 0 at the cutoff
  double reaction_field = 1.0;    // dielectric constant around dipoles; 1: vacuum; may be infinite
  double coulomb = 1.0;           // energy * distance / charge^2
};

// Parameters of a pair of Lennard-Jones sites.
struct PairOfCenters {
  double four_epsilon, sigma_sq, shift;    // energy, distance^2, energy
};

// Contribution of the Lennard-Jones sites of pairs of molecules beyond the cutoff, for one ordered
// pair of components, including i = j. The correction is N_i N_j / V times these numbers. virial: a
// third of the trace over pairs, which is the contribution to p V
struct TailCorrection {
  double energy = 0.0, virial = 0.0;    // energy * distance^3
};

// Components and their interactions. The constructor throws std::invalid_argument.
class GPUCOORD_API MultisiteModel {
 public:
  MultisiteModel(std::vector<Component>, const MultisiteOptions &);
  void set_mixing(int i, int j, const Mixing &);

  const std::vector<Component> &components() const { return all; }
  const MultisiteOptions &options() const { return settings; }
  // Returns the parameters of center a of component i with center b of component j.
  PairOfCenters centers(int i, int a, int j, int b) const;
  // Returns f; the energy of two dipoles in the reaction field is -f mu_i mu_j (e_i.e_j).
  double reaction_field_factor() const;
  // Returns the energy of a molecule of component i in the reaction field of its own moment,
  // including charges. The sums of MultisiteSums do not include it.
  double self_energy(int i) const;
  // Returns the tail correction for uncorrelated orientations and positions beyond the cutoff (R.
  // Lustig, Mol. Phys. 65, 175 (1988)). Throws std::invalid_argument if a cutoff between centers of
  // mass does not exceed the sum of the reaches of both molecules.
  TailCorrection tail(int i, int j) const;
  // Returns the distance of the farthest site of component i from its center of mass.
  double reach(int i) const;
  // Returns the range (distance). Molecules whose centers of mass are farther apart do not
  // interact.
  double range(int i, int j) const;
  // Returns the largest range (distance).
  double range() const;
  // Throws std::invalid_argument if single precision cannot represent these energies, lengths and
  // multipole moments.
  void check_float() const;

 private:
  std::vector<Component> all;
  MultisiteOptions settings;
  std::vector<Mixing> mixing;    // [components][components]
};

// Molecules of one rank, owned first, then ghosts.
struct Molecules {
  const double *x = nullptr;    // [nall][3] centers of mass, distance
  // [nall][4] w x y z, unit quaternions from the molecule's frame to the laboratory frame
  const double *quaternion = nullptr;
  const int *component = nullptr;    // [nall] index of the component
  int nlocal = 0, nall = 0;
};

// Sums over the owned molecules. Each molecule of a pair counts half of the pair.
struct MultisiteSums {
  // Energies. electrostatic does not include reaction_field.
  double lennard_jones = 0.0, electrostatic = 0.0, reaction_field = 0.0;
  double virial[6] = {};    // from the forces on centers of mass: xx yy zz xy xz yz, energy
  Timings timings;          // seconds, on a GPU only
};

// Arrays by row of the owned molecules. Results are added to them. energy and virial may be null:
// not requested.
struct MultisiteResults {
  double *force = nullptr;    // [nlocal][3] energy/distance
  // [nlocal][3] torque about the center of mass, in the laboratory frame, energy
  double *torque = nullptr;
  double *energy = nullptr;    // [nlocal] half the energy of each pair
  // [nlocal][6] half the virial of each pair, xx yy zz xy xz yz, energy
  double *virial = nullptr;
};

// Outputs in addition to forces and torques. ALL: the sums, and the per-molecule energy and virial
// if their arrays are not null.
enum class MultisiteWant { FORCES, ALL };

class GPUCOORD_API Multisite {
 public:
  virtual ~Multisite() = default;
  // Evaluates the molecules and adds to the results. Quaternions and positions must be finite; the
  // function does not check this. The CUDA backend throws DeviceError.
  virtual MultisiteSums evaluate(const Molecules &, MultisiteWant, const MultisiteResults &) = 0;
  // Returns the allocated memory, on the host and on the GPU.
  virtual std::size_t bytes() const = 0;
};

// Makes the backend that runs on the host. In MIXED and SINGLE, pair terms are float, and sums over
// a chunk of partners are added in double. Results are bitwise independent of nthreads.
GPUCOORD_API std::unique_ptr<Multisite> make_host_multisite(const MultisiteModel &, Precision,
                                                            int nthreads);

// Makes the backend that runs on a GPU. device: -1 selects the GPU that is current in each call.
// nthreads: OpenMP threads that prepare data. This function and the backend throw DeviceError.
GPUCOORD_API std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &, Precision,
                                                            int device, int nthreads);

// Computes the sums by plain loops over all pairs in double, as a reference for testing the
// backends.
GPUCOORD_API MultisiteSums reference_multisite(const MultisiteModel &, const Molecules &,
                                               const MultisiteResults &);

}    // namespace gpucoord

#endif
