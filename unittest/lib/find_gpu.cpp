// Part of GPUCOORD, GPL-2.0. Prints the name of the GPU that the tests use, or why there is no GPU.
// Argument: number of GPUs that the tests need.

#include "gpu.h"

int main(int argc, char **argv)
{
  need_gpu(argc > 1 ? std::atoi(argv[1]) : 1);
  std::printf("%s\n", gpucoord::cuda_device_name(0).c_str());
}
