// Part of GPUCOORD, GPL-2.0. Components of rigid molecules and how they interact.

#include "gpucoord/multisite.h"

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpucoord {

namespace {

  std::string in_text(double number)
  {
    char text[32];
    std::snprintf(text, sizeof text, "%g", number);
    return text;
  }

  void check(bool is_good, const Component &component, const std::string &what)
  {
    if (!is_good) throw std::invalid_argument("component " + component.name + ": " + what);
  }

  void normalise(const Component &component, const char *kind, std::vector<AxialSite> &sites)
  {
    for (AxialSite &site : sites) {
      const double length = std::hypot(site.axis[0], site.axis[1], site.axis[2]);
      check(length > 0.0 && std::isfinite(length), component,
            std::string("the axis of a ") + kind + " has length " + in_text(length) + " and must have a direction");
      for (double &a : site.axis) a /= length;
    }
  }

}    // namespace

MultisiteModel::MultisiteModel(std::vector<Component> components_in, const MultisiteOptions &options_in) :
    all(std::move(components_in)), settings(options_in), mixing(all.size() * all.size())
{
  for (Component &component : all) {
    check(!component.centres.empty() || !component.charges.empty() || !component.dipoles.empty() || !component.quadrupoles.empty(),
          component, "it has no sites");
    for (const LennardJonesSite &site : component.centres) {
      check(site.epsilon >= 0.0, component, "epsilon is " + in_text(site.epsilon) + " and must be 0 or more");
      check(site.sigma > 0.0, component, "sigma is " + in_text(site.sigma) + " and must be more than 0");
    }
    normalise(component, "dipole", component.dipoles);
    normalise(component, "quadrupole", component.quadrupoles);
  }
}

void MultisiteModel::set_mixing(int i, int j, const Mixing &of_pair)
{
  const std::size_t n = all.size();
  mixing[i * n + j] = mixing[j * n + i] = of_pair;
}

PairOfCentres MultisiteModel::centres(int i, int a, int j, int b) const
{
  const LennardJonesSite &first = all[i].centres[a], &second = all[j].centres[b];
  const Mixing of_pair = i == j ? Mixing() : mixing[i * all.size() + j];
  const double epsilon = of_pair.xi * std::sqrt(first.epsilon * second.epsilon);
  const double sigma = of_pair.eta * 0.5 * (first.sigma + second.sigma);
  const double s6 = std::pow(sigma / settings.cutoff, 6);
  return {4.0 * epsilon, sigma * sigma, settings.shift ? 4.0 * epsilon * (s6 - s6 * s6) : 0.0};
}

double MultisiteModel::reaction_field_factor() const
{
  const double rc = settings.cutoff_charge, epsilon = settings.reaction_field;
  const double of_field = std::isinf(epsilon) ? 1.0 : 2.0 * (epsilon - 1.0) / (2.0 * epsilon + 1.0);
  return settings.coulomb * of_field / (rc * rc * rc);
}

}    // namespace gpucoord
