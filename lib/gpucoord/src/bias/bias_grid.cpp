// Part of GPUCOORD, GPL-2.0.

#include "bias_grid.h"

#include "gaussian.h"
#include "text_files.h"

#include "../common/hermite_grid.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace gpucoord {

BiasGrid::BiasGrid(std::vector<std::string> names_in, std::vector<GridAxis> axes_in) :
    names(std::move(names_in)), axes(std::move(axes_in)), n(static_cast<int>(axes.size())),
    nderivatives(1 << n)
{
  std::size_t points = 1;
  for (const auto &axis : axes) points *= static_cast<std::size_t>(axis.bins) + 1;
  values.assign(points * nderivatives, 0.0);
}

void BiasGrid::position(std::size_t point, double *s) const
{
  for (int k = 0; k < n; ++k) {
    const std::size_t size = static_cast<std::size_t>(axes[k].bins) + 1;
    const auto index = static_cast<int>(point % size);
    s[k] = index == axes[k].bins ? axes[k].hi : axes[k].lo + index * axes[k].spacing();
    point /= size;
  }
}

std::size_t BiasGrid::nearest(const double *s) const
{
  std::size_t point = 0, stride = 1;
  for (int k = 0; k < n; ++k) {
    const double index = std::round((s[k] - axes[k].lo) / axes[k].spacing());
    point += stride * static_cast<std::size_t>(std::min(std::max(index, 0.0), static_cast<double>(axes[k].bins)));
    stride *= static_cast<std::size_t>(axes[k].bins) + 1;
  }
  return point;
}

void BiasGrid::add(const Hill &hill)
{
  // points in reach, as a box
  long long first[MAX_METAD_VARIABLES] = {}, count[MAX_METAD_VARIABLES] = {1, 1, 1};
  for (int k = 0; k < n; ++k) {
    const double reach = hill.sigma[k] * std::sqrt(2.0 * HILL_END);
    const double low = std::ceil((hill.centre[k] - reach - axes[k].lo) / axes[k].spacing());
    const double high = std::floor((hill.centre[k] + reach - axes[k].lo) / axes[k].spacing());
    // one more at each end, for rounding; compared as numbers, because a centre may be far off the grid
    if (!(low - 1.0 <= axes[k].bins) || !(high + 1.0 >= 0.0)) return;
    first[k] = static_cast<long long>(std::max(low - 1.0, 0.0));
    count[k] = static_cast<long long>(std::min(high + 1.0, static_cast<double>(axes[k].bins))) - first[k] + 1;
  }

  const double offset = hill_offset(hill);
  const std::size_t row = static_cast<std::size_t>(axes[0].bins) + 1;
  const std::size_t plane = n > 1 ? row * (static_cast<std::size_t>(axes[1].bins) + 1) : 0;
  for (long long c = first[2]; c < first[2] + count[2]; ++c)
    for (long long b = first[1]; b < first[1] + count[1]; ++b)
      for (long long a = first[0]; a < first[0] + count[0]; ++a) {
        const std::size_t point = a + row * b + plane * c;
        double s[MAX_METAD_VARIABLES], z[MAX_METAD_VARIABLES];
        position(point, s);
        const double e = stretched_exponential(hill, n, s, z);
        if (e == 0.0) continue;
        double *const out = &values[point * nderivatives];
        out[0] += e - offset;
        for (int bits = 1; bits < nderivatives; ++bits) {
          double term = e;
          for (int k = 0; k < n; ++k)
            if (bits >> k & 1) term *= -z[k];
          out[bits] += term;
        }
      }
}

double BiasGrid::evaluate(const double *s, double *slope) const
{
  HermiteAxis shape[MAX_METAD_VARIABLES];
  for (int k = 0; k < n; ++k) shape[k] = hermite_axis(axes[k]);
  return evaluate_hermite(n, shape, values.data(), s, slope);
}

/* ---------------------------------------------------------------------- */

std::vector<std::string> BiasGrid::columns() const
{
  std::vector<std::string> result = names;
  result.emplace_back("metad.bias");
  // first derivatives come first, as in PLUMED
  for (const auto &name : names) result.push_back("der_" + name);
  for (int bits = 1; bits < nderivatives; ++bits) {
    std::string name = "der";
    int order = 0;
    for (int k = 0; k < n; ++k)
      if (bits >> k & 1) {
        name += "_" + names[k];
        ++order;
      }
    if (order > 1) result.push_back(name);
  }
  return result;
}

// the derivative that is in each of the columns after the value
static std::vector<int> order_of_derivatives(int n)
{
  std::vector<int> result;
  for (int k = 0; k < n; ++k) result.push_back(1 << k);
  for (int bits = 1; bits < 1 << n; ++bits)
    if (bits & (bits - 1)) result.push_back(bits);
  return result;
}

void BiasGrid::write(const std::string &path, std::int64_t nhills) const
{
  std::string text = "#! FIELDS";
  for (const auto &column : columns()) text += " " + column;
  text += "\n";
  for (int k = 0; k < n; ++k) {
    text += "#! SET min_" + names[k] + " " + number_text(axes[k].lo) + "\n";
    text += "#! SET max_" + names[k] + " " + number_text(axes[k].hi) + "\n";
    text += "#! SET nbins_" + names[k] + " " + std::to_string(axes[k].bins + 1) + "\n";    // PLUMED counts points
    text += "#! SET periodic_" + names[k] + " false\n";
  }
  text += "# hills " + std::to_string(nhills) + "\n";
  NewFile file(path);
  const auto order = order_of_derivatives(n);
  const std::size_t row = static_cast<std::size_t>(axes[0].bins) + 1;
  for (std::size_t point = 0; point < npoints(); ++point) {
    double s[MAX_METAD_VARIABLES];
    position(point, s);
    for (int k = 0; k < n; ++k) text += " " + number_text(s[k]);
    text += " " + number_text(value(point));
    for (const int bits : order) text += " " + number_text(values[point * nderivatives + bits]);
    text += "\n";
    if (n > 1 && point % row == row - 1) text += "\n";
    if (text.size() > 1000000) {
      file.add(text);
      text.clear();
    }
  }
  file.add(text);
  file.finish();
}

std::int64_t BiasGrid::read(const std::string &path)
{
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read grid file " + path + ": " + last_error());
  const auto bad = [&path](std::size_t line, const std::string &why) {
    return std::runtime_error("grid file " + path + ", line " + std::to_string(line) + ": " + why);
  };

  std::int64_t nhills = -1;
  std::vector<std::pair<std::string, std::string>> expected;
  for (int k = 0; k < n; ++k) {
    expected.emplace_back("nbins_" + names[k], std::to_string(axes[k].bins + 1));
    expected.emplace_back("periodic_" + names[k], "false");
  }
  std::vector<double> read_values(values.size());
  const auto order = order_of_derivatives(n);
  std::size_t point = 0, number = 0;
  std::string line;
  while (std::getline(file, line)) {
    ++number;
    const auto words = words_of(line);
    if (words.empty()) continue;
    if (words[0] == "#!" && words.size() > 1 && words[1] == "FIELDS") {
      if (std::vector<std::string>(words.begin() + 2, words.end()) != columns())
        throw bad(number, "its columns are " + joined(words, 2) + ", but the fix needs " + joined(columns(), 0));
    } else if (words[0] == "#!" && words.size() == 4 && words[1] == "SET") {
      for (int k = 0; k < n; ++k) {
        double found;
        const bool low = words[2] == "min_" + names[k], high = words[2] == "max_" + names[k];
        if ((low || high) && (!to_number(words[3], found) || found != (low ? axes[k].lo : axes[k].hi)))
          throw bad(number, words[2] + " is " + words[3] + ", but the fix has " +
                                short_text(low ? axes[k].lo : axes[k].hi));
      }
      for (const auto &entry : expected)
        if (words[2] == entry.first && words[3] != entry.second)
          throw bad(number, words[2] + " is " + words[3] + ", but the fix has " + entry.second);
    } else if (words[0] == "#") {
      double count;
      if (words.size() == 3 && words[1] == "hills" && to_number(words[2], count))
        nhills = static_cast<std::int64_t>(count);
    } else {
      if (point == npoints()) throw bad(number, "more points than the grid has");
      if (words.size() != static_cast<std::size_t>(n) + nderivatives)
        throw bad(number, std::to_string(words.size()) + " columns in place of " +
                              std::to_string(n + nderivatives));
      double found, s[MAX_METAD_VARIABLES];
      position(point, s);
      for (int k = 0; k < n; ++k)
        if (!to_number(words[k], found) || !(std::fabs(found - s[k]) < 1e-3 * axes[k].spacing()))
          throw bad(number, names[k] + " is " + words[k] + " in place of " + short_text(s[k]));
      for (int k = 0; k < nderivatives; ++k) {
        if (!to_number(words[n + k], found)) throw bad(number, "'" + words[n + k] + "' is not a number");
        read_values[point * nderivatives + (k == 0 ? 0 : order[k - 1])] = found;
      }
      ++point;
    }
  }
  if (point < npoints())
    throw bad(number, "it ends after " + std::to_string(point) + " of " + std::to_string(npoints()) + " points");
  if (nhills < 0) throw bad(number, "no line '# hills N' says how many hills are in it");
  values = std::move(read_values);
  return nhills;
}

}    // namespace gpucoord
