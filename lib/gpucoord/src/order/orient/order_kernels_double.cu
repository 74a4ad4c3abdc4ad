// Part of GPUCOORD, GPL-2.0. The kernels of order parameters in double.

#include "order_kernels.cuh"

namespace gpucoord {

void get_order_launchers(int l, OrderLaunchers<double> &launchers)
{
  launchers =
      order_launch::launchers_of<double>(l, std::make_integer_sequence<int, MAX_L - MIN_L + 1>());
}

}    // namespace gpucoord
