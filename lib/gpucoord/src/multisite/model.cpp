// Part of GPUCOORD, GPL-2.0. Components of rigid molecules and their interactions.

#include "gpucoord/multisite.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpucoord {

namespace {

  std::string in_text(double value)
  {
    return short_text(value, 6);
  }

  void check(bool is_good, const Component &component, const std::string &what)
  {
    if (!is_good) throw std::invalid_argument("component " + component.name + ": " + what);
  }

  double length(const std::array<double, 3> &v)
  {
    return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }

  void normalize(const Component &component, const char *kind, std::vector<AxialSite> &sites)
  {
    for (AxialSite &site : sites) {
      const double size = std::hypot(site.axis[0], site.axis[1], site.axis[2]);
      check(size > 0.0 && std::isfinite(size), component,
            std::string("the axis of a ") + kind + " has length " + in_text(size) +
                " but must have a direction");
      for (double &a : site.axis) a /= size;
    }
  }

}    // namespace

MultisiteModel::MultisiteModel(std::vector<Component> components_in,
                               const MultisiteOptions &options_in) :
    all(std::move(components_in)),
    settings(options_in), mixing(all.size() * all.size())
{
  for (Component &component : all) {
    check(!component.centers.empty() || !component.charges.empty() || !component.dipoles.empty() ||
              !component.quadrupoles.empty(),
          component, "it has no sites - add a center, charge, dipole or quadrupole");
    for (const LennardJonesSite &site : component.centers) {
      check(site.epsilon >= 0.0, component,
            "epsilon is " + in_text(site.epsilon) + " but must be >= 0");
      check(site.sigma > 0.0, component, "sigma is " + in_text(site.sigma) + " but must be > 0");
      check(site.sigma >= MIN_LENGTH && site.sigma <= MAX_LENGTH, component,
            "sigma is " + in_text(site.sigma) + " but must be " + in_text(MIN_LENGTH) + " to " +
                in_text(MAX_LENGTH) + ", so that (sigma/cutoff)^12 is a finite number");
    }
    normalize(component, "dipole", component.dipoles);
    normalize(component, "quadrupole", component.quadrupoles);
  }
  // Distances between sites are differences of positions, which have 16 digits. Cutoffs are 0 if
  // the options are not set.
  constexpr double MAX_CUTOFFS = 1e6;
  const double longest = std::max(settings.cutoff, settings.cutoff_charge);
  for (int i = 0; i < static_cast<int>(all.size()) && longest > 0.0; ++i)
    check(reach(i) <= MAX_CUTOFFS * longest, all[i],
          "a site is " + in_text(reach(i)) +
              " from the center of mass, but must not be farther than " + in_text(MAX_CUTOFFS) +
              " times the cutoff " + in_text(longest) +
              ", where rounding changes distances by 1e-10 of the cutoff - give sites relative to "
              "the center of mass");
}

void MultisiteModel::set_mixing(int i, int j, const Mixing &pair_mixing)
{
  const std::size_t n = all.size();
  mixing[i * n + j] = mixing[j * n + i] = pair_mixing;
}

PairOfCenters MultisiteModel::centers(int i, int a, int j, int b) const
{
  const LennardJonesSite &first = all[i].centers[a], &second = all[j].centers[b];
  const Mixing pair_mixing = i == j ? Mixing() : mixing[i * all.size() + j];
  const double epsilon = pair_mixing.xi * std::sqrt(first.epsilon * second.epsilon);
  const double sigma = pair_mixing.eta * 0.5 * (first.sigma + second.sigma);
  const double s6 = std::pow(sigma / settings.cutoff, 6);
  return {4.0 * epsilon, sigma * sigma, settings.shift ? 4.0 * epsilon * (s6 - s6 * s6) : 0.0};
}

double MultisiteModel::reaction_field_factor() const
{
  const double rc = settings.cutoff_charge, epsilon = settings.reaction_field;
  if (epsilon == 1.0) return 0.0;    // no reaction field, even if rc^3 is not finite
  const double field_factor = std::isinf(epsilon) ? 1.0
                                                  : 2.0 * (epsilon - 1.0) / (2.0 * epsilon + 1.0);
  return settings.coulomb * field_factor / (rc * rc * rc);
}

double MultisiteModel::self_energy(int i) const
{
  double moment[3] = {};
  for (const AxialSite &site : all[i].dipoles)
    for (int c = 0; c < 3; ++c) moment[c] += site.moment * site.axis[c];
  for (const ChargeSite &site : all[i].charges)
    for (int c = 0; c < 3; ++c) moment[c] += site.charge * site.position[c];
  return -0.5 * reaction_field_factor() *
      (moment[0] * moment[0] + moment[1] * moment[1] + moment[2] * moment[2]);
}

double MultisiteModel::reach(int i) const
{
  const Component &component = all[i];
  double farthest = 0.0;
  for (const auto &site : component.centers) farthest = std::max(farthest, length(site.position));
  for (const auto &site : component.charges) farthest = std::max(farthest, length(site.position));
  for (const auto &site : component.dipoles) farthest = std::max(farthest, length(site.position));
  for (const auto &site : component.quadrupoles)
    farthest = std::max(farthest, length(site.position));
  return farthest;
}

double MultisiteModel::range(int i, int j) const
{
  const auto has_poles = [](const Component &c) {
    return !c.charges.empty() || !c.dipoles.empty() || !c.quadrupoles.empty();
  };
  double cutoff = 0.0;
  if (!all[i].centers.empty() && !all[j].centers.empty()) cutoff = settings.cutoff;
  if (has_poles(all[i]) && has_poles(all[j])) cutoff = std::max(cutoff, settings.cutoff_charge);
  return settings.site_cutoff && cutoff > 0.0 ? cutoff + reach(i) + reach(j) : cutoff;
}

double MultisiteModel::range() const
{
  double largest = 0.0;
  for (int i = 0; i < static_cast<int>(all.size()); ++i)
    for (int j = i; j < static_cast<int>(all.size()); ++j) largest = std::max(largest, range(i, j));
  return largest;
}

void MultisiteModel::check_float() const
{
  // Far within the range of float, because kernels multiply the strengths by powers of the distance
  // and of its inverse.
  constexpr double MIN_MAGNITUDE = 1e-30, MAX_MAGNITUDE = 1e30;
  const auto need = [](double value, const Component &component, const std::string &what) {
    if (value == 0.0 || (std::fabs(value) >= MIN_MAGNITUDE && std::fabs(value) <= MAX_MAGNITUDE))
      return;
    check(false, component,
          what + " is " + in_text(value) + ", and single precision holds " +
              in_text(MIN_MAGNITUDE) + " to " + in_text(MAX_MAGNITUDE));
  };
  struct Strength {
    double value;
    int order;    // power of 1/r in the potential, 1 for a charge
  };
  std::vector<Strength> strengths;
  for (const Component &one : all) {
    for (const LennardJonesSite &site : one.centers) {
      need(site.epsilon, one, "epsilon");
      need(site.sigma * site.sigma, one, "sigma squared");
      need(site.epsilon / (site.sigma * site.sigma), one, "epsilon over sigma squared");
    }
    for (const ChargeSite &site : one.charges) strengths.push_back({site.charge, 1});
    for (const AxialSite &site : one.dipoles) strengths.push_back({site.moment, 2});
    for (const AxialSite &site : one.quadrupoles) strengths.push_back({site.moment, 3});
    // Check the products with the strengths of all components up to this one.
    for (const Strength &a : strengths)
      for (const Strength &b : strengths) {
        const double product = a.value * b.value;
        need(product, one, "a product of charges, dipoles or quadrupoles");
        need(settings.coulomb * product, one,
             "a product of charges, dipoles or quadrupoles, times Coulomb's constant,");
        need(settings.coulomb * product / std::pow(settings.cutoff_charge, a.order + b.order), one,
             "an electrostatic force at the cutoff");
      }
  }
  // Check the powers as lennard_jones() computes them at the cutoff. Small powers may round to 0
  // there.
  const double rc_sq = settings.cutoff * settings.cutoff;
  const auto need_less = [&](double value, const Component &component, const std::string &what,
                             double sigma) {
    check(value <= MAX_MAGNITUDE, component,
          what + " is " + in_text(value) + " for sigma " + in_text(sigma) + " and cutoff " +
              in_text(settings.cutoff) + ", and single precision holds up to " +
              in_text(MAX_MAGNITUDE));
  };
  for (int i = 0; i < static_cast<int>(all.size()); ++i)
    for (int j = i; j < static_cast<int>(all.size()); ++j)
      for (int a = 0; a < static_cast<int>(all[i].centers.size()); ++a)
        for (int b = 0; b < static_cast<int>(all[j].centers.size()); ++b) {
          const PairOfCenters pair = centers(i, a, j, b);
          const double sigma = std::sqrt(pair.sigma_sq), s12 = std::pow(pair.sigma_sq / rc_sq, 6);
          need_less(s12, all[i], "(sigma/cutoff)^12", sigma);
          need_less(12.0 * s12 / rc_sq, all[i], "12 (sigma/cutoff)^12/cutoff^2", sigma);
          need_less(12.0 * pair.four_epsilon * s12 / rc_sq, all[i],
                    "48 epsilon (sigma/cutoff)^12/cutoff^2", sigma);
        }
}

// The mean of r^-n over the orientations of arms t1 and t2 at the ends of R is the sum over k and l
// of t1^2k t2^2l / ((2k+1)! (2l+1)!) Laplacian^(k+l) R^-n, with Laplacian R^p = p (p+1) R^(p-2).
// With m = k + l, the terms of one m sum to (n+2m-2)! / (n-2)! 2 A_m / (2m+2)! R^-(n+2m). A_m is
// the sum of (t1+t2)^2j (t1-t2)^2(m-j) over j = 0 to m. All terms are positive, so that no digits
// are lost. Lustig's closed forms (Mol. Phys. 65, 175 (1988)) have this expansion, but lose digits.
TailCorrection MultisiteModel::tail(int i, int j) const
{
  // The mean diverges if the arms meet. Within about 1e-4 of this case, the sum has not converged
  // after this number of terms.
  constexpr int MAX_TERMS = 100000;
  constexpr double PI = 3.14159265358979323846;
  const double rc = settings.cutoff;
  if (!settings.site_cutoff && !(rc > reach(i) + reach(j)))
    throw std::invalid_argument("the cutoff between centers of mass is " + in_text(rc) +
                                ", and sites of " + all[i].name + " and " + all[j].name +
                                " reach " + in_text(reach(i) + reach(j)) +
                                " together: the long-range correction is not defined - use a "
                                "longer cutoff, or a cutoff between sites");
  TailCorrection sum;
  for (int a = 0; a < static_cast<int>(all[i].centers.size()); ++a)
    for (int b = 0; b < static_cast<int>(all[j].centers.size()); ++b) {
      const PairOfCenters pair = centers(i, a, j, b);
      const double t1 = settings.site_cutoff ? 0.0 : length(all[i].centers[a].position) / rc;
      const double t2 = settings.site_cutoff ? 0.0 : length(all[j].centers[b].position) / rc;
      const double max_sq = (t1 + t2) * (t1 + t2), min_sq = (t1 - t2) * (t1 - t2);
      for (const int n : {6, 12}) {
        // Integrals of R^2 and of -R^3/3 d/dR times the mean, from the cutoff to infinity, in units
        // of the cutoff.
        double energy = 0.0, virial = 0.0, factor = 1.0, arms = 1.0, power = 1.0, term = 1.0;
        for (int m = 0; m < MAX_TERMS && term > 1e-17 * virial; ++m) {
          if (m > 0) {
            factor *=
                (n + 2.0 * m - 2.0) * (n + 2.0 * m - 3.0) / ((2.0 * m + 2.0) * (2.0 * m + 1.0));
            power *= min_sq;
            arms = max_sq * arms + power;
          }
          const double energy_term = factor * arms / (n + 2.0 * m - 3.0);
          term = energy_term * (n + 2.0 * m) / 3.0;
          energy += energy_term;
          virial += term;
        }
        const double strength = (n == 6 ? -2.0 : 2.0) * PI * pair.four_epsilon * rc * rc * rc *
            std::pow(pair.sigma_sq / (rc * rc), n / 2);
        sum.energy += strength * energy;
        sum.virial += strength * virial;
      }
    }
  return sum;
}

}    // namespace gpucoord
