// Part of GPUCOORD, GPL-2.0. For programs in which all tests need a GPU.

#ifndef GPUCOORD_TEST_GPU_TESTS_H
#define GPUCOORD_TEST_GPU_TESTS_H

#include "gpu.h"

#include <gtest/gtest.h>

// Checked in SetUp() instead of main(), so that tests can be listed without a GPU.
class NeedGpu : public testing::Environment {
 public:
  void SetUp() override { need_gpu(); }
};
inline testing::Environment *const need_gpu_first = testing::AddGlobalTestEnvironment(new NeedGpu);

#endif
