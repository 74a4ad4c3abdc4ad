// Part of GPUCOORD, GPL-2.0. Times forces and torques of rigid molecules on a jittered simple cubic
// lattice with random orientations.
//
// Usage: bench_multisite backend model phase molecules_per_edge precision threads repeats
// backend: host, cuda or cuda-any (the kernels for any number of sites).
// model: lj (ethane, two centers), co2 (three centers, three charges), eo (ethylene oxide: three
//   centers, a dipole), water (SPC/E, charges within the same cutoff), n2 (two centers, a
//   quadrupole).
// phase: liquid, or gas with a thirtieth of its density.
// Prints: molecules, partners of a molecule, milliseconds of forces and torques, the same with
// energies and virials, million molecule updates per second for forces and torques, and
// milliseconds of forces and torques including the copies to and from a GPU, which the other times
// exclude. Times are medians over repeats.

#include "timing.h"

#include "gpucoord/multisite.h"

#ifdef GPUCOORD_HAS_CUDA
#include "multisite/multisite_cuda.h"
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

// Density of the liquid, and cutoff between molecules.
struct Model {
  gpucoord::Component component;
  double density, cutoff;    // 1/distance^3, distance
  double reaction_field = 1.0, coulomb = 1.0;
};

Model make_model(const std::string &name)
{
  Model m;
  auto &c = m.component;
  c.name = name;
  c.mass = 1.0;
  if (name == "lj") {    // TraPPE; Angstrom, K; 236 K
    c.centers = {{{0, 0, 0.77}, 98.0, 3.75}, {{0, 0, -0.77}, 98.0, 3.75}};
    m.density = 0.009401;
    m.cutoff = 14.0;
  } else if (name == "co2") {    // bohr, hartree, e; ls1-MarDyn's example at 250 K
    c.centers = {{{0, 0, 0}, 3.91811245e-5, 5.31712452},
                 {{0, 0, 2.43188952}, 3.1824324e-4, 5.62288233},
                 {{0, 0, -2.43188952}, 3.1824324e-4, 5.62288233}};
    c.charges = {{{0, 0, 0}, 21.2}, {{0, 0, 0.377945376}, -10.6}, {{0, 0, -0.377945376}, -10.6}};
    m.density = 2.121e-3;
    m.cutoff = 33.0702;
  } else if (name == "eo") {    // bohr, hartree, e; ls1-MarDyn's example at 305 K, 19.44 mol/l
    c.centers = {{{0, 1.46711523, 0}, 1.96741979e-4, 5.84473626},
                 {{1.47398696, -0.83835156, 0}, 2.68352891e-4, 6.66431081},
                 {{-1.47398696, -0.83835156, 0}, 2.68352891e-4, 6.66431081}};
    c.dipoles = {{{0, 0, 0}, {0, 1, 0}, 0.967443691}};
    m.density = 1.7348e-3;
    m.cutoff = 38.36144;
    m.reaction_field = 1e10;
  } else if (name == "water") {    // Angstrom, kcal/mol, e
    c.centers = {{{0, 0.0646, 0}, 0.15535, 3.166}};
    c.charges = {{{0, 0.0646, 0}, -0.8476},
                 {{0.81649, -0.51275, 0}, 0.4238},
                 {{-0.81649, -0.51275, 0}, 0.4238}};
    m.density = 0.0334;
    m.cutoff = 10.0;
    m.coulomb = 332.06371;
  } else if (name == "n2") {    // Angstrom, K, with the quadrupole in (K Angstrom^5)^(1/2); 77 K
    c.centers = {{{0, 0, 0.5232}, 34.897, 3.3211}, {{0, 0, -0.5232}, 34.897, 3.3211}};
    c.quadrupoles = {{{0, 0, 0}, {0, 0, 1}, 122.5265}};
    m.density = 0.01733;
    m.cutoff = 14.0;
  } else {
    std::fprintf(stderr, "model is '%s' and must be one of lj, co2, eo, water, n2\n", name.c_str());
    std::exit(1);
  }
  return m;
}

std::unique_ptr<gpucoord::Multisite> make_backend(const std::string &name,
                                                  const gpucoord::MultisiteModel &model,
                                                  gpucoord::Precision precision, int threads)
{
  if (name == "host") return make_host_multisite(model, precision, threads);
#ifdef GPUCOORD_HAS_CUDA
  gpucoord::MultisiteTuning tuning;
  tuning.any_sites = name == "cuda-any";
  if (name == "cuda" || tuning.any_sites)
    return make_cuda_multisite(model, precision, 0, threads, tuning);
#endif
  std::fprintf(stderr,
               "backend is '%s' and must be host or, in a build with CUDA, cuda or cuda-any\n",
               name.c_str());
  std::exit(1);
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 8) {
    std::fprintf(stderr,
                 "usage: %s backend model phase molecules_per_edge precision threads repeats\n",
                 argv[0]);
    return 1;
  }
  const Model model = make_model(argv[2]);
  const double density = std::strcmp(argv[3], "gas") ? model.density : model.density / 30.0;
  const int edge = std::atoi(argv[4]);
  const auto precision = std::strcmp(argv[5], "double") ? gpucoord::Precision::MIXED
                                                        : gpucoord::Precision::DOUBLE;
  const int threads = std::atoi(argv[6]), repeats = std::atoi(argv[7]);

  // Owned molecules, then the periodic images within range, as in LAMMPS.
  const double spacing = std::cbrt(1.0 / density), length = edge * spacing;
  std::mt19937 random(20260704);
  std::uniform_real_distribution<double> jitter(-0.1, 0.1);
  std::normal_distribution<double> normal;
  std::vector<double> x, q;
  for (int i = 0; i < edge * edge * edge; ++i) {
    const int site[3] = {i % edge, i / edge % edge, i / edge / edge};
    for (const int s : site) x.push_back((s + 0.5 + jitter(random)) * spacing);
    double quaternion[4];
    for (double &c : quaternion) c = normal(random);
    const double norm = std::hypot(std::hypot(quaternion[0], quaternion[1]),
                                   std::hypot(quaternion[2], quaternion[3]));
    for (const double c : quaternion) q.push_back(c / norm);
  }
  const int nowned = static_cast<int>(x.size() / 3);
  for (int c = 0; c < 3; ++c) {
    const std::size_t n = x.size() / 3;
    for (std::size_t i = 0; i < n; ++i)
      for (int side = -1; side <= 1; side += 2) {
        const double image = x[3 * i + c] + side * length;
        if (image < -model.cutoff || image > length + model.cutoff) continue;
        for (int k = 0; k < 3; ++k) x.push_back(k == c ? image : x[3 * i + k]);
        for (int k = 0; k < 4; ++k) q.push_back(q[4 * i + k]);
      }
  }
  const int nall = static_cast<int>(x.size() / 3);
  const std::vector<int> component(nall, 0);

  gpucoord::MultisiteOptions options;
  options.cutoff = options.cutoff_charge = model.cutoff;
  options.reaction_field = model.reaction_field;
  options.coulomb = model.coulomb;
  const auto backend = make_backend(argv[1], gpucoord::MultisiteModel({model.component}, options),
                                    precision, threads);

  std::vector<double> force(3 * static_cast<std::size_t>(nowned)), torque(force), energy(nowned),
      virial(6 * static_cast<std::size_t>(nowned));
  const gpucoord::Molecules molecules = {x.data(), q.data(), component.data(), nowned, nall};
  const bool is_cuda = !std::strncmp(argv[1], "cuda", 4);
  double whole;    // milliseconds of the last call
  const auto time = [&](gpucoord::MultisiteWant want) {
    const gpucoord::MultisiteResults results = {force.data(), torque.data(), energy.data(),
                                                virial.data()};
    gpucoord::Timings timings;
    whole = milliseconds([&] {
      timings = backend->evaluate(molecules, want, results).timings;
    });
    return is_cuda ? 1e3 * (timings.bins + timings.pairs + timings.reduction) : whole;
  };
  std::vector<double> forces, all, with_copies;
  for (int k = 0; k <= repeats; ++k) {
    const double force_time = time(gpucoord::MultisiteWant::FORCES), call_time = whole;
    const double all_time = time(gpucoord::MultisiteWant::ALL);
    if (k == 0) continue;    // warm-up of caches and buffers
    forces.push_back(force_time);
    all.push_back(all_time);
    with_copies.push_back(call_time);
  }
  const double partners = 4.0 / 3.0 * 3.14159265358979 * std::pow(model.cutoff, 3) * density;
  std::printf("%d %.0f %.4f %.4f %.4f %.4f\n", nowned, partners, median(forces), median(all),
              nowned / median(forces) * 1e-3, median(with_copies));
  return 0;
}
