// Part of GPUCOORD, GPL-2.0. A sum of hills on a grid, and its file.

#include "bias_grid.h"

#include "../core/checksum.h"
#include "../core/text_files.h"
#include "gaussian.h"

#include "hermite_grid.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <stdexcept>

namespace gpucoord {

// Version of the file format.
static constexpr int FORMAT = 2;

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

void BiasGrid::add(const Hill &hill)
{
  // Grid points within reach of the hill, as a box.
  long long first[MAX_METAD_VARIABLES] = {}, count[MAX_METAD_VARIABLES] = {1, 1, 1};
  for (int k = 0; k < n; ++k) {
    const double reach = hill.sigma[k] * std::sqrt(2.0 * HILL_END);
    const double low = std::ceil((hill.center[k] - reach - axes[k].lo) / axes[k].spacing());
    const double high = std::floor((hill.center[k] + reach - axes[k].lo) / axes[k].spacing());
    // Add one point at each end for rounding errors. Compare as doubles, because a center may be
    // far from the grid.
    if (!(low - 1.0 <= axes[k].bins) || !(high + 1.0 >= 0.0)) return;
    first[k] = static_cast<long long>(std::max(low - 1.0, 0.0));
    count[k] = static_cast<long long>(std::min(high + 1.0, static_cast<double>(axes[k].bins))) -
        first[k] + 1;
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

double BiasGrid::evaluate(const double *s, double *dVdS) const
{
  HermiteAxis shape[MAX_METAD_VARIABLES];
  for (int k = 0; k < n; ++k) shape[k] = hermite_axis(axes[k]);
  return evaluate_hermite(n, shape, values.data(), s, dVdS);
}

/* ---------------------------------------------------------------------- */

std::string BiasGrid::column(int bits) const
{
  if (bits == 0) return "metad.bias";
  std::string name = "der";
  for (int k = 0; k < n; ++k)
    if (bits >> k & 1) name += "_" + names[k];
  return name;
}

std::vector<std::string> BiasGrid::columns() const
{
  std::vector<std::string> result = names;
  result.push_back(column(0));
  for (int k = 0; k < n; ++k) result.push_back(column(1 << k));
  return result;
}

std::vector<int> BiasGrid::mixed_derivatives() const
{
  std::vector<int> result;
  for (int bits = 1; bits < nderivatives; ++bits)
    if (bits & (bits - 1)) result.push_back(bits);
  return result;
}

std::string BiasGrid::checksum() const
{
  Checksum sum;
  for (const double value : values) sum.add(value);
  return sum.text();
}

void BiasGrid::write(const std::string &path, std::int64_t nhills,
                     const std::string &checksum_of_hills) const
{
  std::string text = "#! FIELDS " + joined(columns(), 0) + "\n";
  for (int k = 0; k < n; ++k) {
    text += "#! SET min_" + names[k] + " " + number_text(axes[k].lo) + "\n";
    text += "#! SET max_" + names[k] + " " + number_text(axes[k].hi) + "\n";
    text += "#! SET nbins_" + names[k] + " " + std::to_string(axes[k].bins + 1) +
        "\n";    // PLUMED counts points
    text += "#! SET periodic_" + names[k] + " false\n";
  }
  const auto mixed = mixed_derivatives();
  if (!mixed.empty()) {
    text += "# after the # of each line:";
    for (const int bits : mixed) text += " " + column(bits);
    text += "\n";
  }
  text += format_line("grid", FORMAT);
  text += "# hills " + std::to_string(nhills) + "\n";
  text += "# checksums hills " + checksum_of_hills + " grid " + checksum() + "\n";
  NewFile file(path);
  const std::size_t row = static_cast<std::size_t>(axes[0].bins) + 1;
  for (std::size_t point = 0; point < npoints(); ++point) {
    const double *const at_point = &values[point * nderivatives];
    double s[MAX_METAD_VARIABLES];
    position(point, s);
    for (int k = 0; k < n; ++k) text += " " + number_text(s[k]);
    text += " " + number_text(at_point[0]);
    for (int k = 0; k < n; ++k) text += " " + number_text(at_point[1 << k]);
    if (!mixed.empty()) text += " #";
    for (const int bits : mixed) text += " " + number_text(at_point[bits]);
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

BiasGrid::Written BiasGrid::read(const std::string &path)
{
  require_regular_file("grid file", path);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read grid file " + path + ": " + last_error());
  const auto bad = [&path](std::size_t line, const std::string &why) {
    return std::runtime_error("grid file " + path + ", line " + std::to_string(line) + ": " + why);
  };

  const StatedFormat format = stated_format(file, "grid", FORMAT);
  if (!format.why_unknown.empty())
    throw std::runtime_error("grid file " + path + ", " + format.why_unknown);
  if (!format.is_stated)
    throw std::runtime_error("grid file " + path + " has no comment '# GPUCOORD grid format " +
                             std::to_string(FORMAT) +
                             "': PLUMED, GPUCOORD before version 1.0 or another program wrote it");

  Written result;
  std::string expected_checksum;
  std::vector<std::pair<std::string, std::string>> expected;
  for (int k = 0; k < n; ++k) {
    expected.emplace_back("nbins_" + names[k], std::to_string(axes[k].bins + 1));
    expected.emplace_back("periodic_" + names[k], "false");
  }
  const auto mixed = mixed_derivatives();
  std::vector<int> order = {0};    // derivative in each column after the variables
  for (int k = 0; k < n; ++k) order.push_back(1 << k);
  order.insert(order.end(), mixed.begin(), mixed.end());

  std::size_t point = 0, number = 0;
  std::string line;
  while (std::getline(file, line)) {
    ++number;
    auto words = words_of(line);
    if (words.empty()) continue;
    if (words[0] == "#!" && words.size() > 1 && words[1] == "FIELDS") {
      const std::vector<std::string> found(words.begin() + 2, words.end());
      if (found != columns())
        throw bad(number,
                  "its columns are " + printable(joined(found, 0)) + ", but the fix needs " +
                      joined(columns(), 0));
    } else if (words[0] == "#!" && words.size() == 4 && words[1] == "SET") {
      for (int k = 0; k < n; ++k) {
        double found;
        const bool low = words[2] == "min_" + names[k], high = words[2] == "max_" + names[k];
        if ((low || high) &&
            (!to_number(words[3], found) || found != (low ? axes[k].lo : axes[k].hi)))
          throw bad(number,
                    words[2] + " is " + printable(words[3]) + ", but the fix has " +
                        short_text(low ? axes[k].lo : axes[k].hi));
      }
      for (const auto &entry : expected)
        if (words[2] == entry.first && words[3] != entry.second)
          throw bad(number,
                    words[2] + " is " + printable(words[3]) + ", but the fix has " + entry.second);
    } else if (words[0] == "#") {
      double count;
      if (words.size() == 3 && words[1] == "hills" && to_number(words[2], count) && count < 1e15)
        result.nhills = static_cast<std::int64_t>(count);
      if (words.size() > 1 && words[1] == "checksums") {
        if (words.size() != 6 || words[2] != "hills" || words[4] != "grid")
          throw bad(number,
                    "'" + printable(joined(words, 0)) +
                        "' in place of '# checksums hills X grid Y'");
        result.checksum_of_hills = words[3];
        expected_checksum = words[5];
      }
    } else {
      if (point == npoints()) throw bad(number, "more points than the grid has");
      if (!mixed.empty()) {
        const auto mark = words.begin() + std::min<std::size_t>(2 * n + 1, words.size());
        if (mark == words.end() || *mark != "#")
          throw bad(number,
                    "no # with mixed derivatives after " + std::to_string(2 * n + 1) + " columns");
        words.erase(mark);
      }
      if (words.size() != n + order.size())
        throw bad(number,
                  std::to_string(words.size()) + " columns in place of " +
                      std::to_string(n + order.size()));
      double found, s[MAX_METAD_VARIABLES];
      position(point, s);
      for (int k = 0; k < n; ++k)
        if (!to_number(words[k], found) || !(std::fabs(found - s[k]) < 1e-3 * axes[k].spacing()))
          throw bad(number,
                    names[k] + " is " + printable(words[k]) + " in place of " + short_text(s[k]));
      for (int k = 0; k < nderivatives; ++k) {
        if (!to_number(words[n + k], found))
          throw bad(number, "'" + printable(words[n + k]) + "' is not a number");
        values[point * nderivatives + order[k]] = found;
      }
      ++point;
    }
  }
  if (point < npoints())
    throw bad(number,
              "it ends after " + std::to_string(point) + " of " + std::to_string(npoints()) +
                  " points");
  if (result.nhills < 0) throw bad(number, "no line '# hills N' says how many hills are in it");
  if (result.checksum_of_hills.empty()) throw bad(number, "no line '# checksums hills X grid Y'");
  if (checksum() != expected_checksum)
    throw std::runtime_error(
        "grid file " + path +
        " was altered after it was written: its numbers do not have the checksum "
        "that it gives");
  return result;
}

}    // namespace gpucoord
