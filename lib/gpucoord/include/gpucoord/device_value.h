// Part of GPUCOORD, GPL-2.0. Values and factors of variables that are in device memory.

#ifndef GPUCOORD_DEVICE_VALUE_H
#define GPUCOORD_DEVICE_VALUE_H

#include <cstddef>

namespace gpucoord {

struct DeviceStatus;

// The product of three numbers. The host may not know the last two yet.
struct Factor {
  double host = 1.0;
  const double *device = nullptr, *second = nullptr;    // in device memory; null: 1
};

// Factors of values of one variable. The value item[k] has the product of the two common factors
// and of the two that belong to it.
struct ItemFactors {
  static constexpr int NO_ITEM = -1;

  double host = 1.0;                    // common to all values
  const double *device = nullptr;       // common to all values, in device memory; null: 1
  const double *on_host = nullptr;      // [n]; null: 1
  const double *on_device = nullptr;    // [n], in device memory; null: 1
  // [n] indices of values, on the host; NO_ITEM: the factor belongs to no value; null: 0 to n - 1
  const int *item = nullptr;
  int n = 1;

  // Returns the part of a factor that the host knows.
  double host_factor(int k = 0) const { return on_host ? host * on_host[k] : host; }
  // Returns a factor, for a variable with one value.
  Factor factor(int k = 0) const
  {
    const double *const own = on_device ? on_device + k : nullptr;
    return device ? Factor{host_factor(k), device, own} : Factor{host_factor(k), own};
  }
  // Returns whether the host knows that all factors are 0.
  bool are_zero() const
  {
    for (int k = 0; k < n; ++k)
      if (host_factor(k) != 0.0) return false;
    return true;
  }
};

// S_k = scale * sum[k * stride], once the enqueued evaluation is done.
struct DeviceValue {
  const double *sum = nullptr;    // in device memory; null: S is 0
  double scale = 1.0;
  const DeviceStatus *status = nullptr;    // errors of the evaluation, in device memory
  int n = 1, stride = 1;                   // number of values, and their distance

  // Returns one of the values.
  DeviceValue item(int k) const
  {
    return {sum ? sum + static_cast<std::ptrdiff_t>(k) * stride : nullptr, scale, status};
  }
};

}    // namespace gpucoord

#endif
