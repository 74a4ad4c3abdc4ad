// Part of GPUCOORD, GPL-2.0. A sum of hills on a grid, and its file.

#include "bias_grid.h"

#include "../core/checksum.h"
#include "../core/text_files.h"
#include "gaussian.h"

#include "hermite_grid.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace gpucoord {

// Version of the file format.
static constexpr int FORMAT = 2;

static std::size_t points_of(const std::vector<GridAxis> &axes)
{
  std::size_t points = 1;
  for (const auto &axis : axes) points *= axis.size();
  return points;
}

BiasGrid::BiasGrid(std::vector<std::string> names_in, std::vector<GridAxis> axes_in,
                   bool grows_in) :
    names(std::move(names_in)),
    axes(std::move(axes_in)), grows(grows_in), n(static_cast<int>(axes.size())),
    nderivatives(1 << n)
{
  values.assign(points_of(axes) * nderivatives, 0.0);
}

void BiasGrid::position(std::size_t point, double *s) const
{
  for (int k = 0; k < n; ++k) {
    const std::size_t size = axes[k].size();
    s[k] = axes[k].point(axes[k].first() + static_cast<int>(point % size));
    point /= size;
  }
}

bool BiasGrid::is_between_bounds(std::size_t point) const
{
  for (const auto &axis : axes) {
    const int index = axis.first() + static_cast<int>(point % axis.size());
    if (index < 0 || index > axis.bins) return false;
    point /= axis.size();
  }
  return true;
}

bool BiasGrid::is_image(std::size_t point) const
{
  for (const auto &axis : axes) {
    const std::size_t size = axis.size();
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
    const std::size_t length = stride * (axis.size() - 1);
    for (std::size_t first = 0; axis.is_periodic && first < npoints(); first += length + stride)
      std::copy_n(&values[first * nderivatives], stride * nderivatives,
                  &values[(first + length) * nderivatives]);
    stride += length;
  }
}

// Returns the range of a hill in units of indices of points. They are doubles, because a center may
// be far from the grid.
static Interval range_of(const Hill &hill, int k, const GridAxis &axis)
{
  const double reach = hill.sigma[k] * std::sqrt(2.0 * HILL_END);
  const double center = image_within(hermite_axis(axis), hill.center[k]);
  return {(center - reach - axis.lo) / axis.spacing(), (center + reach - axis.lo) / axis.spacing()};
}

// Returns the positions in an axis of points within reach of a hill, in increasing order. Not those
// of images.
std::vector<int> BiasGrid::points_near(const Hill &hill, int k) const
{
  const GridAxis &axis = axes[k];
  const Interval range = range_of(hill, k, axis);
  // Add one point at each end for rounding errors.
  double low = std::ceil(range.lo) - 1.0, high = std::floor(range.hi) + 1.0;
  const int bins = axis.bins;
  if (axis.is_periodic) {
    // A reach of half the period, the largest one, has all points.
    low = std::max(low, -1.0 * bins);
    high = std::min(high, low + bins - 1.0);
  } else {
    low = std::max(low, static_cast<double>(axis.first()));
    high = std::min(high, static_cast<double>(axis.last()));
  }
  std::vector<int> result;
  for (double point = low; point <= high; ++point) {
    const int index = static_cast<int>(point);
    result.push_back(axis.is_periodic ? (index + bins) % bins : index - axis.first());
  }
  std::sort(result.begin(), result.end());
  return result;
}

static bool holds(const std::vector<GridAxis> &axes, const Hill &hill)
{
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const Interval range = range_of(hill, static_cast<int>(k), axes[k]);
    if (!axes[k].is_periodic &&
        (std::floor(range.lo) - 1.0 < axes[k].first() ||
         std::ceil(range.hi) + 1.0 > axes[k].last()))
      return false;
  }
  return true;
}

// Adds the missing points and a quarter of the present ones, or only the former if this would be
// too many.
std::vector<GridAxis> BiasGrid::axes_for(const Hill &hill, const std::vector<GridAxis> &from) const
{
  if (!grows || holds(from, hill)) return from;
  double points = 0.0;
  for (const double part : {0.25, 0.0}) {
    std::vector<GridAxis> result = from;
    std::vector<Interval> more(n);
    points = 1.0;
    for (int k = 0; k < n; ++k) {
      const GridAxis &axis = from[k];
      const double extra = std::floor(part * (axis.last() - axis.first()));
      const Interval range = range_of(hill, k, axis);
      const double low = axis.first() - (std::floor(range.lo) - 1.0),
                   high = std::ceil(range.hi) + 1.0 - axis.last();
      if (!axis.is_periodic)
        more[k] = {low > 0.0 ? low + extra : 0.0, high > 0.0 ? high + extra : 0.0};
      points *= static_cast<double>(axis.size()) + more[k].lo + more[k].hi;
    }
    if (!(points <= MAX_GRID_POINTS)) continue;
    for (int k = 0; k < n; ++k) {
      result[k].below += static_cast<int>(more[k].lo);
      result[k].above += static_cast<int>(more[k].hi);
    }
    return result;
  }
  std::string text = "the grid cannot grow to a hill at ";
  for (int k = 0; k < n; ++k)
    text += (k ? ", " : "") + names[k] + " = " + short_text(hill.center[k]);
  throw std::runtime_error(text + ": it would have " + short_text(points, 15) +
                           " points, more than 1e8 - use fewer bins, a wall that limits the "
                           "variable, or keyword interval, beyond which the bias is constant");
}

std::vector<GridAxis> BiasGrid::axes_for(const std::vector<Hill> &hills) const
{
  std::vector<GridAxis> all = axes;
  for (const auto &hill : hills) all = axes_for(hill, all);
  return all;
}

void BiasGrid::check_room(const std::vector<Hill> &hills) const
{
  const std::size_t points = points_of(axes_for(hills));
  if (points == npoints()) return;
  const std::unique_ptr<double[]> memory(new double[points * nderivatives]);
  volatile double *const used = memory.get();    // or a compiler may leave out the allocation
  *used = 0.0;
}

void BiasGrid::make_room(const std::vector<Hill> &hills)
{
  const auto all = axes_for(hills);
  if (points_of(all) == npoints()) return;
  BiasGrid larger(names, all, grows);
  become(larger);
}

void BiasGrid::become(BiasGrid &larger)
{
  const std::size_t row = axes[0].size();
  for (std::size_t first = 0; first < npoints(); first += row) {
    std::size_t rest = first, to = 0, stride = 1;
    for (int k = 0; k < n; ++k) {
      to += stride * (rest % axes[k].size() + larger.axes[k].below - axes[k].below);
      rest /= axes[k].size();
      stride *= larger.axes[k].size();
    }
    std::copy_n(&values[first * nderivatives], row * nderivatives,
                &larger.values[to * nderivatives]);
  }
  axes = larger.axes;
  values.swap(larger.values);
}

void BiasGrid::complete(const std::vector<Hill> &hills)
{
  std::vector<GridAxis> all = axes;
  double points = 1.0;
  for (auto &axis : all) {    // at least the range between the bounds
    axis.below = std::max(axis.below, 0);
    axis.above = std::max(axis.above, 0);
    points *= static_cast<double>(axis.size());
  }
  if (points > MAX_GRID_POINTS)
    throw std::runtime_error("the grid would have " + short_text(points, 15) +
                             " points, more than 1e8, with the range of the grid file");
  BiasGrid whole(names, all, grows);
  for (const auto &hill : hills)
    if (!holds(axes, hill)) whole.add(hill);
  become(whole);
}

void BiasGrid::add(const Hill &hill)
{
  if (grows && !holds(axes, hill)) make_room({hill});
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
  const std::size_t row = axes[0].size(), plane = n > 1 ? row * axes[1].size() : 0;
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

static std::size_t points_in_file(const GridAxis &axis)
{
  return axis.is_periodic ? axis.bins : axis.size();
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
    text += "#! SET min_" + names[k] + " " + bound(axes[k].point(axes[k].first())) + "\n";
    text += "#! SET max_" + names[k] + " " + bound(axes[k].point(axes[k].last())) + "\n";
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
  const std::size_t row = axes[0].size(), end_of_row = points_in_file(axes[0]) - 1;
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

std::string BiasGrid::set_end(int k, bool is_low, const std::string &word)
{
  GridAxis &axis = axes[k];
  double found;
  const bool is_number = to_bound(word, found);
  if (!grows || axis.is_periodic) {
    const double end = is_low ? axis.lo : axis.hi;
    return is_number && found == end ? "" : "the fix has " + short_text(end);
  }
  const double index = is_number ? std::round((found - axis.lo) / axis.spacing()) : 0.0;
  const bool is_in_reach = std::fabs(index) <= MAX_GRID_POINTS;
  // A tolerance for rounding errors
  if (!is_number || !is_in_reach ||
      !(std::fabs(found - axis.point(static_cast<int>(index))) <= 1e-6 * axis.spacing()))
    return "the fix has points at " + short_text(axis.lo) + " plus multiples of " +
        short_text(axis.spacing());
  (is_low ? axis.below : axis.above) = static_cast<int>(is_low ? -index : index - axis.bins);
  return "";
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
    expected.emplace_back("periodic_" + names[k], axes[k].is_periodic ? "true" : "false");
  }
  const auto mixed = mixed_derivatives();
  std::vector<int> order = {0};    // derivative in each column after the variables
  for (int k = 0; k < n; ++k) order.push_back(1 << k);
  order.insert(order.end(), mixed.begin(), mixed.end());

  std::size_t point = 0, nread = 0, line_number = 0;
  const auto number_in_file = [this] {
    double points = 1.0;
    for (const auto &axis : axes) points *= static_cast<double>(points_in_file(axis));
    return points;
  };
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
      if (grows && nread > 0) throw bad(line_number, "a SET line after the first point");
      for (int k = 0; k < n; ++k) {
        std::string needed;
        if (words[2] == "min_" + names[k] || words[2] == "max_" + names[k])
          needed = set_end(k, words[2] == "min_" + names[k], words[3]);
        const auto points = std::to_string(points_in_file(axes[k]));
        if (words[2] == "nbins_" + names[k] && words[3] != points)
          needed = grows && !axes[k].is_periodic
              ? "from min_" + names[k] + " to max_" + names[k] + " the fix has " + points
              : "the fix has " + points;
        if (!needed.empty())
          throw bad(line_number, words[2] + " is " + printable(words[3]) + ", but " + needed);
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
      if (nread == 0 && grows) {
        // A wrong range must not use up the memory.
        if (!(number_in_file() <= static_cast<double>(std::filesystem::file_size(path))))
          throw bad(line_number, "its range has more points than the file");
        values.assign(points_of(axes) * nderivatives, 0.0);
      }
      if (nread == number_in_file()) throw bad(line_number, "more points than the grid has");
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
  if (nread < number_in_file())
    throw bad(line_number,
              "it ends after " + std::to_string(nread) + " of " + short_text(number_in_file()) +
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
