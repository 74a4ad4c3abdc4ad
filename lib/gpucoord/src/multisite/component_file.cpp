// Part of GPUCOORD, GPL-2.0. Reads files of components.

#include "gpucoord/multisite.h"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace gpucoord {

namespace {

  constexpr double MAX_NUMBER = 1e100;

  class Reader {
   public:
    Reader(std::istream &in_file, const std::string &name) : in(in_file), file(name) {}

    std::vector<Component> read()
    {
      std::string line;
      while (std::getline(in, line)) {
        if (++line_number == 1 && line.compare(0, 3, "\xEF\xBB\xBF") == 0)
          line.erase(0, 3);    // UTF-8 byte-order mark
        words.clear();
        std::istringstream tokens(line.substr(0, line.find('#')));
        for (std::string word; tokens >> word;) words.push_back(word);
        if (!words.empty()) parse_line();
      }
      if (in.bad()) fail("it cannot be read");
      if (!all.empty()) end_component();
      return all;
    }

   private:
    void parse_line()
    {
      if (words[0] == "centre") words[0] = "center";
      const std::string &keyword = words[0];
      if (keyword == "component") {
        if (words.size() != 2) fail("component needs one name");
        if (!all.empty()) end_component();
        for (const Component &other : all)
          if (other.name == words[1]) fail("there is a component " + words[1] + " already");
        all.emplace_back().name = words[1];
        has_inertia = false;
        return;
      }
      if (keyword != "mass" && keyword != "inertia" && keyword != "center" && keyword != "charge" &&
          keyword != "dipole" && keyword != "quadrupole")
        fail("'" + keyword +
             "' is not one of component, mass, inertia, center, charge, dipole, quadrupole");
      if (all.empty()) fail(keyword + " comes before the first component");
      Component &component = all.back();
      if ((keyword == "mass" && component.mass > 0.0) || (keyword == "inertia" && has_inertia))
        fail("component " + component.name + " has a line " + keyword + " already");
      if (keyword == "mass") {
        component.mass = values("M", 1)[0];
        if (!(component.mass > 0.0)) fail("the mass is " + words[1] + " but must be > 0");
        if (component.mass < 1.0 / MAX_NUMBER)
          fail("the mass is " + words[1] +
               " but must be >= 1e-100, so that quotients by it are finite");
      } else if (keyword == "inertia") {
        const auto moments = values("Ix Iy Iz", 3);
        has_inertia = true;
        for (int k = 0; k < 3; ++k)
          if (moments[k] < 0.0) fail("the moment of inertia " + words[1 + k] + " must be >= 0");
        for (int k = 0; k < 3; ++k) {
          const double others = moments[(k + 1) % 3] + moments[(k + 2) % 3];
          if (moments[k] > others * (1.0 + 1e-6))
            fail("the moment of inertia " + words[1 + k] +
                 " is more than the sum of the other two, which is impossible for a body");
          component.inertia[k] = moments[k];
        }
      } else if (keyword == "center") {
        const auto n = values("x y z epsilon sigma", 5);
        component.centers.push_back({{n[0], n[1], n[2]}, n[3], n[4]});
      } else if (keyword == "charge") {
        const auto n = values("x y z q", 4);
        component.charges.push_back({{n[0], n[1], n[2]}, n[3]});
      } else {
        const auto n = values(keyword == "dipole" ? "x y z ex ey ez mu" : "x y z ex ey ez Q", 7);
        (keyword == "dipole" ? component.dipoles : component.quadrupoles)
            .push_back({{n[0], n[1], n[2]}, {n[3], n[4], n[5]}, n[6]});
      }
    }

    // Returns the numbers of the line. what: their names, for messages
    std::vector<double> values(const char *what, std::size_t n) const
    {
      if (words.size() != n + 1)
        fail(words[0] + " needs " + what + ", but there " +
             (words.size() == 2 ? "is 1 number"
                                : "are " + std::to_string(words.size() - 1) + " numbers"));
      std::vector<double> found;
      for (std::size_t k = 1; k <= n; ++k) {
        char *end;
        found.push_back(std::strtod(words[k].c_str(), &end));
        if (*end != '\0' || !std::isfinite(found.back()))
          fail("'" + words[k] + "' is not a finite number");
        if (std::fabs(found.back()) > MAX_NUMBER)
          fail("'" + words[k] +
               "' must be 1e100 or less in magnitude, so that products of such numbers are finite");
      }
      return found;
    }

    void end_component() const
    {
      if (all.back().mass == 0.0) fail("component " + all.back().name + " ends without a mass");
    }

    [[noreturn]] void fail(const std::string &what) const
    {
      throw std::invalid_argument(file + ", line " + std::to_string(line_number) + ": " + what);
    }

    std::istream &in;
    const std::string file;
    int line_number = 0;
    std::vector<std::string> words;
    std::vector<Component> all;
    bool has_inertia = false;    // the last component has a line 'inertia'
  };

}    // namespace

std::vector<Component> read_components(std::istream &in, const std::string &name)
{
  return Reader(in, name).read();
}

}    // namespace gpucoord
