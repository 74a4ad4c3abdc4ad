// Part of GPUCOORD, GPL-2.0. Values of variables on the GPU, for tests of biases.

#ifndef GPUCOORD_TEST_RESIDENT_VALUES_H
#define GPUCOORD_TEST_RESIDENT_VALUES_H

#include "resident_systems.h"

#include "gpucoord/resident_bias.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace gpucoord {

// Gives any values of S to a bias on a GPU, as multiples of a coordination number.
class Values {
 public:
  Values()
  {
    device->rebuild(loaded.atoms, selection(false, 0.3), 0, nullptr);
    device->evaluate(loaded.atoms, {DERIVATIVES}, nullptr);
    value = device->result(nullptr).value;
  }

  std::vector<DeviceValue> at(const std::vector<double> &s) const
  {
    std::vector<DeviceValue> values(s.size(), device->device_value());
    for (std::size_t v = 0; v < s.size(); ++v) values[v].scale = s[v] / value;
    return values;
  }

 private:
  const Switch function{options(SwitchKind::CUBIC, 1.0)};
  const System s{500, 0, 10.0, 47};
  const Loaded loaded{s, false};
  const std::unique_ptr<ResidentCoordination> device = make(function, Precision::DOUBLE);
  double value = 0.0;
};

}    // namespace gpucoord

#endif
