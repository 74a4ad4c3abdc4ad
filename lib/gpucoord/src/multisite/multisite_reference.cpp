// Part of GPUCOORD, GPL-2.0. Rigid molecules in plain loops, a reference for testing the backends.

#include "gpucoord/multisite.h"

#include "site_interactions.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace gpucoord {

namespace {

  using Vec = Vector<double>;

  Vec vec(const double *x)
  {
    return {x[0], x[1], x[2]};
  }
  Vec vec(const std::array<double, 3> &x)
  {
    return {x[0], x[1], x[2]};
  }

  // A site in the laboratory frame.
  struct Site {
    Vec arm;     // from the center of mass, distance
    Vec axis;    // unit vector, or 0
    double strength;
  };

  struct Sites {
    std::vector<Site> centers, charges, dipoles, quadrupoles;

    Sites(const Component &component, const double *q)
    {
      for (const auto &site : component.centers)
        centers.push_back({rotated(q, vec(site.position)), {0, 0, 0}, 0.0});
      for (const auto &site : component.charges)
        charges.push_back({rotated(q, vec(site.position)), {0, 0, 0}, site.charge});
      add(component.dipoles, q, dipoles);
      add(component.quadrupoles, q, quadrupoles);
    }
    static void add(const std::vector<AxialSite> &from, const double *q, std::vector<Site> &to)
    {
      for (const auto &site : from)
        to.push_back({rotated(q, vec(site.position)), rotated(q, vec(site.axis)), site.moment});
    }
  };

  // Force on molecule i, and torque about its center of mass, from molecule j.
  struct PairOfMolecules {
    Vec d;                    // x_i - x_j of the centers of mass, distance
    double site_cutoff_sq;    // distance^2; sites farther apart do not interact
    Vec force = {0, 0, 0}, torque = {0, 0, 0};
    double energy = 0.0;

    void add(const Site &site, const SitePair<double> &pair)
    {
      energy += pair.energy;
      force = force + pair.force;
      torque = torque + cross(site.arm, pair.force) + pair.torque_i;
    }
    // Adds all pairs of sites. of(inverse_r, strength, ci, cj, g) returns the energy of two sites
    // and its derivatives, with i as the first site.
    template <class F>
    void add_all(const std::vector<Site> &sites_i, const std::vector<Site> &sites_j, F terms)
    {
      for (const Site &a : sites_i)
        for (const Site &b : sites_j) {
          const Vec s = d + a.arm - b.arm;
          if (dot(s, s) > site_cutoff_sq) continue;
          const double inverse_r = 1.0 / std::sqrt(dot(s, s));
          const Vec u = inverse_r * s;
          const double ci = dot(a.axis, u), cj = dot(b.axis, u), g = dot(a.axis, b.axis);
          SitePair<double> pair;
          pair_of_axes(terms(inverse_r, a.strength * b.strength, ci, cj, g), inverse_r, u, a.axis,
                       b.axis, ci, cj, pair);
          add(a, pair);
        }
    }
    // Like add_all(), for an interaction with j as the first site. u and the cosines change sign,
    // and the torques are exchanged.
    template <class F>
    void add_reversed(const std::vector<Site> &sites_i, const std::vector<Site> &sites_j, F terms)
    {
      for (const Site &a : sites_i)
        for (const Site &b : sites_j) {
          const Vec s = b.arm - a.arm - d;    // x_b - x_a
          if (dot(s, s) > site_cutoff_sq) continue;
          const double inverse_r = 1.0 / std::sqrt(dot(s, s));
          const Vec u = inverse_r * s;
          const double cb = dot(b.axis, u), ca = dot(a.axis, u), g = dot(a.axis, b.axis);
          SitePair<double> pair;
          pair_of_axes(terms(inverse_r, a.strength * b.strength, cb, ca, g), inverse_r, u, b.axis,
                       a.axis, cb, ca, pair);
          pair.force = -1.0 * pair.force;
          pair.torque_i = pair.torque_j;
          add(a, pair);
        }
    }
  };

}    // namespace

MultisiteSums reference_multisite(const MultisiteModel &model, const Molecules &molecules,
                                  const MultisiteResults &results)
{
  const MultisiteOptions &options = model.options();
  const double coulomb = options.coulomb, field = model.reaction_field_factor();
  // A cutoff between centers of mass excludes a cutoff between sites, and vice versa.
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool by_site = options.site_cutoff;
  const double center_cutoff_sq = by_site ? infinity : options.cutoff * options.cutoff;
  const double center_cutoff_charge_sq = by_site ? infinity
                                                 : options.cutoff_charge * options.cutoff_charge;
  const double site_cutoff_sq = by_site ? options.cutoff * options.cutoff : infinity;
  const double site_cutoff_charge_sq = by_site ? options.cutoff_charge * options.cutoff_charge
                                               : infinity;
  std::vector<Sites> sites;
  for (int i = 0; i < molecules.nall; ++i)
    sites.emplace_back(model.components()[molecules.component[i]], molecules.quaternion + 4 * i);

  MultisiteSums sums;
  for (int i = 0; i < molecules.nlocal; ++i)
    for (int j = 0; j < molecules.nall; ++j) {
      if (j == i) continue;
      const Sites &a = sites[i], &b = sites[j];
      PairOfMolecules pair = {vec(molecules.x + 3 * i) - vec(molecules.x + 3 * j),
                              site_cutoff_charge_sq};
      const double r_sq = dot(pair.d, pair.d);
      if (r_sq <= center_cutoff_sq)
        for (std::size_t k = 0; k < a.centers.size(); ++k)
          for (std::size_t l = 0; l < b.centers.size(); ++l) {
            const PairOfCenters centers =
                model.centers(molecules.component[i], k, molecules.component[j], l);
            const Vec s = pair.d + a.centers[k].arm - b.centers[l].arm;
            if (dot(s, s) > site_cutoff_sq) continue;
            double derivative_over_r;
            const double u = lennard_jones(dot(s, s), centers.four_epsilon, centers.sigma_sq,
                                           centers.shift, derivative_over_r);
            pair.add(a.centers[k], {u, -derivative_over_r * s, {0, 0, 0}, {0, 0, 0}});
          }
      sums.lennard_jones += 0.5 * pair.energy;
      double energy = 0.5 * pair.energy;
      pair.energy = 0.0;
      if (r_sq <= center_cutoff_charge_sq) {
        const auto charge_charge_terms = [&](double inverse_r, double qq, double, double, double) {
          double derivative_over_r;
          const double u = charges(inverse_r, coulomb * qq, derivative_over_r);
          return AngleTerms<double>{u, derivative_over_r / inverse_r, 0, 0, 0};
        };
        const auto charge_dipole_terms = [&](double inverse_r, double s, double, double cj,
                                             double) {
          return charge_dipole(inverse_r, coulomb * s, cj);
        };
        const auto charge_quadrupole_terms = [&](double inverse_r, double s, double, double cj,
                                                 double) {
          return charge_quadrupole(inverse_r, coulomb * s, cj);
        };
        const auto dipole_dipole_terms = [&](double inverse_r, double s, double ci, double cj,
                                             double g) {
          return dipoles(inverse_r, coulomb * s, ci, cj, g);
        };
        const auto dipole_quadrupole_terms = [&](double inverse_r, double s, double ci, double cj,
                                                 double g) {
          return dipole_quadrupole(inverse_r, coulomb * s, ci, cj, g);
        };
        const auto quadrupole_quadrupole_terms = [&](double inverse_r, double s, double ci,
                                                     double cj, double g) {
          return quadrupoles(inverse_r, coulomb * s, ci, cj, g);
        };
        pair.add_all(a.charges, b.charges, charge_charge_terms);
        pair.add_all(a.charges, b.dipoles, charge_dipole_terms);
        pair.add_reversed(a.dipoles, b.charges, charge_dipole_terms);
        pair.add_all(a.dipoles, b.dipoles, dipole_dipole_terms);
        pair.add_all(a.charges, b.quadrupoles, charge_quadrupole_terms);
        pair.add_reversed(a.quadrupoles, b.charges, charge_quadrupole_terms);
        pair.add_all(a.dipoles, b.quadrupoles, dipole_quadrupole_terms);
        pair.add_reversed(a.quadrupoles, b.dipoles, dipole_quadrupole_terms);
        pair.add_all(a.quadrupoles, b.quadrupoles, quadrupole_quadrupole_terms);
        sums.electrostatic += 0.5 * pair.energy;
        energy += 0.5 * pair.energy;
        pair.energy = 0.0;
        pair.add_all(a.dipoles, b.dipoles, [&](double, double s, double, double, double g) {
          return AngleTerms<double>{-field * s * g, 0, 0, 0, -field * s};
        });
        sums.reaction_field += 0.5 * pair.energy;
        energy += 0.5 * pair.energy;
      }
      const Vec &d = pair.d, &f = pair.force;
      const double w[6] = {d.x * f.x, d.y * f.y, d.z * f.z, d.x * f.y, d.x * f.z, d.y * f.z};
      for (int k = 0; k < 6; ++k) {
        sums.virial[k] += 0.5 * w[k];
        if (results.virial) results.virial[6 * i + k] += 0.5 * w[k];
      }
      if (results.energy) results.energy[i] += energy;
      const double out[6] = {f.x, f.y, f.z, pair.torque.x, pair.torque.y, pair.torque.z};
      for (int k = 0; k < 3; ++k) {
        results.force[3 * i + k] += out[k];
        results.torque[3 * i + k] += out[3 + k];
      }
    }
  return sums;
}

}    // namespace gpucoord
