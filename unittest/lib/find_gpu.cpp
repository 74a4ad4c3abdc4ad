// Part of GPUCOORD, GPL-2.0. Names the GPU that the tests use, or says why there is none.

#include "gpu.h"

int main()
{
  need_gpu();
  std::printf("%s\n", gpucoord::cuda_device_name(0).c_str());
}
