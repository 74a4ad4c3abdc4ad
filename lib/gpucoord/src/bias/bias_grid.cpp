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

bool BiasGrid::is_image(std::size_t point) const
{
  for (const auto &axis : axes) {
    const std::size_t size = static_cast<std::size_t>(axis.bins) + 1;
    if (axis.is_periodic && point % size == size - 1) return true;
    point /= size;
  }
  return false;
}

// Copies along one axis after the other, so that corners are images of the first corner.
void BiasGrid::set_images()
{
  std::size_t stride = 1;    // between points along the axis
  for (const auto &axis : axes) {
    const std::size_t length = stride * axis.bins;
    for (std::size_t first = 0; axis.is_periodic && first < npoints(); first += length + stride)
      std::copy_n(&values[first * nderivatives], stride * nderivatives,
                  &values[(first + length) * nderivatives]);
    stride += length;
  }
}

// Returns the indices of points of an axis within reach of a hill, in increasing order. Not those
// of images.
std::vector<int> BiasGrid::points_near(const Hill &hill, int k) const
{
  const GridAxis &axis = axes[k];
  const double reach = hill.sigma[k] * std::sqrt(2.0 * HILL_END);
  const double center = image_within(hermite_axis(axis), hill.center[k]);
  // Add one point at each end for rounding errors. Compare as doubles, because a center may be far
  // from the grid.
  double low = std::ceil((center - reach - axis.lo) / axis.spacing()) - 1.0;
  double high = std::floor((center + reach - axis.lo) / axis.spacing()) + 1.0;
  const int bins = axis.bins;
  if (axis.is_periodic) {
    // A reach of half the period, the largest one, has all points.
    low = std::max(low, -1.0 * bins);
    high = std::min(high, low + bins - 1.0);
  } else {
    low = std::max(low, 0.0);
    high = std::min(high, static_cast<double>(bins));
  }
  std::vector<int> result;
  for (double point = low; point <= high; ++point) {
    const int index = static_cast<int>(point);
    result.push_back(axis.is_periodic ? (index + bins) % bins : index);
  }
  std::sort(result.begin(), result.end());
  return result;
}

void BiasGrid::add(const Hill &hill)
{
  // Grid points within reach of the hill, as a box.
  std::vector<int> near[MAX_SAMPLED_VARIABLES] = {{0}, {0}, {0}};
  Period period[MAX_SAMPLED_VARIABLES];
  bool is_periodic = false;
  for (int k = 0; k < n; ++k) {
    near[k] = points_near(hill, k);
    if (axes[k].is_periodic) period[k] = {axes[k].lo, axes[k].hi - axes[k].lo};
    is_periodic |= axes[k].is_periodic;
  }

  const double offset = hill_offset(hill);
  const std::size_t row = static_cast<std::size_t>(axes[0].bins) + 1;
  const std::size_t plane = n > 1 ? row * (static_cast<std::size_t>(axes[1].bins) + 1) : 0;
  for (const int c : near[2])
    for (const int b : near[1])
      for (const int a : near[0]) {
        const std::size_t point = a + row * b + plane * c;
        double s[MAX_SAMPLED_VARIABLES], z[MAX_SAMPLED_VARIABLES];
        position(point, s);
        const double e = stretched_exponential(hill, n, period, s, z);
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
  if (is_periodic) set_images();
}

double BiasGrid::evaluate(const double *s, double *dVdS) const
{
  HermiteAxis shape[MAX_SAMPLED_VARIABLES];
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

static int points_in_file(const GridAxis &axis)
{
  return axis.is_periodic ? axis.bins : axis.bins + 1;
}

void BiasGrid::write(const std::string &path, std::int64_t nhills,
                     const std::string &checksum_of_hills) const
{
  std::string text = "#! FIELDS " + joined(columns(), 0) + "\n";
  for (int k = 0; k < n; ++k) {
    const bool is_periodic = axes[k].is_periodic;
    const auto bound = [is_periodic](double end) {
      return is_periodic ? text_of_bound(end) : number_text(end);
    };
    text += "#! SET min_" + names[k] + " " + bound(axes[k].lo) + "\n";
    text += "#! SET max_" + names[k] + " " + bound(axes[k].hi) + "\n";
    text += "#! SET nbins_" + names[k] + " " + std::to_string(points_in_file(axes[k])) +
        "\n";    // PLUMED counts points
    text += "#! SET periodic_" + names[k] + (is_periodic ? " true\n" : " false\n");
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
  const auto end_of_row = static_cast<std::size_t>(points_in_file(axes[0])) - 1;
  for (std::size_t point = 0; point < npoints(); ++point) {
    if (is_image(point)) continue;
    const double *const at_point = &values[point * nderivatives];
    double s[MAX_SAMPLED_VARIABLES];
    position(point, s);
    for (int k = 0; k < n; ++k) text += " " + number_text(s[k]);
    text += " " + number_text(at_point[0]);
    for (int k = 0; k < n; ++k) text += " " + number_text(at_point[1 << k]);
    if (!mixed.empty()) text += " #";
    for (const int bits : mixed) text += " " + number_text(at_point[bits]);
    text += "\n";
    if (n > 1 && point % row == end_of_row) text += "\n";
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
    expected.emplace_back("nbins_" + names[k], std::to_string(points_in_file(axes[k])));
    expected.emplace_back("periodic_" + names[k], axes[k].is_periodic ? "true" : "false");
  }
  const auto mixed = mixed_derivatives();
  std::vector<int> order = {0};    // derivative in each column after the variables
  for (int k = 0; k < n; ++k) order.push_back(1 << k);
  order.insert(order.end(), mixed.begin(), mixed.end());

  std::size_t point = 0, nread = 0, line_number = 0, nwritten = 1;
  for (const auto &axis : axes) nwritten *= static_cast<std::size_t>(points_in_file(axis));
  std::string line;
  while (std::getline(file, line)) {
    ++line_number;
    auto words = words_of(line);
    if (words.empty()) continue;
    if (words[0] == "#!" && words.size() > 1 && words[1] == "FIELDS") {
      const std::vector<std::string> found(words.begin() + 2, words.end());
      if (found != columns())
        throw bad(line_number,
                  "its columns are " + printable(joined(found, 0)) + ", but the fix needs " +
                      joined(columns(), 0));
    } else if (words[0] == "#!" && words.size() == 4 && words[1] == "SET") {
      for (int k = 0; k < n; ++k) {
        double found;
        const bool low = words[2] == "min_" + names[k], high = words[2] == "max_" + names[k];
        if ((low || high) &&
            (!to_bound(words[3], found) || found != (low ? axes[k].lo : axes[k].hi)))
          throw bad(line_number,
                    words[2] + " is " + printable(words[3]) + ", but the fix has " +
                        short_text(low ? axes[k].lo : axes[k].hi));
      }
      for (const auto &entry : expected)
        if (words[2] == entry.first && words[3] != entry.second)
          throw bad(line_number,
                    words[2] + " is " + printable(words[3]) + ", but the fix has " + entry.second);
    } else if (words[0] == "#") {
      double count;
      if (words.size() == 3 && words[1] == "hills" && to_number(words[2], count) && count < 1e15)
        result.nhills = static_cast<std::int64_t>(count);
      if (words.size() > 1 && words[1] == "checksums") {
        if (words.size() != 6 || words[2] != "hills" || words[4] != "grid")
          throw bad(line_number,
                    "'" + printable(joined(words, 0)) +
                        "' in place of '# checksums hills X grid Y'");
        result.checksum_of_hills = words[3];
        expected_checksum = words[5];
      }
    } else {
      if (nread == nwritten) throw bad(line_number, "more points than the grid has");
      if (!mixed.empty()) {
        const auto mark = words.begin() + std::min<std::size_t>(2 * n + 1, words.size());
        if (mark == words.end() || *mark != "#")
          throw bad(line_number,
                    "no # with mixed derivatives after " + std::to_string(2 * n + 1) + " columns");
        words.erase(mark);
      }
      if (words.size() != n + order.size())
        throw bad(line_number,
                  std::to_string(words.size()) + " columns in place of " +
                      std::to_string(n + order.size()));
      double found, s[MAX_SAMPLED_VARIABLES];
      position(point, s);
      for (int k = 0; k < n; ++k)
        if (!to_number(words[k], found) || !(std::fabs(found - s[k]) < 1e-3 * axes[k].spacing()))
          throw bad(line_number,
                    names[k] + " is " + printable(words[k]) + " in place of " + short_text(s[k]));
      for (int k = 0; k < nderivatives; ++k) {
        if (!to_number(words[n + k], found))
          throw bad(line_number, "'" + printable(words[n + k]) + "' is not a number");
        values[point * nderivatives + order[k]] = found;
      }
      ++nread;
      do ++point;
      while (point < npoints() && is_image(point));
    }
  }
  if (nread < nwritten)
    throw bad(line_number,
              "it ends after " + std::to_string(nread) + " of " + std::to_string(nwritten) +
                  " points");
  set_images();
  if (result.nhills < 0)
    throw bad(line_number, "no line '# hills N' says how many hills are in it");
  if (result.checksum_of_hills.empty())
    throw bad(line_number, "no line '# checksums hills X grid Y'");
  if (checksum() != expected_checksum)
    throw std::runtime_error(
        "grid file " + path +
        " was altered after it was written: its numbers do not have the checksum "
        "that it gives");
  return result;
}

}    // namespace gpucoord
