// Part of GPUCOORD, GPL-2.0. Names the GPU that the tests use, or says why there is none. Argument:
// number of GPUs that the tests need.

#include "gpu.h"

int main(int argc, char **argv)
{
  need_gpu(argc > 1 ? std::atoi(argv[1]) : 1);
  std::printf("%s\n", gpucoord::cuda_device_name(0).c_str());
}
