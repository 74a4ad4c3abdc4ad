// Part of GPUCOORD, GPL-2.0. The backend of a test program: all backends run the same tests.
//
// The environment variable GPUCOORD_TEST_BACKEND names the backend: host (the default), auto for
// CUDA, or cells for CUDA without partner lists.

#ifndef GPUCOORD_TEST_BACKENDS_H
#define GPUCOORD_TEST_BACKENDS_H

#include "gpu.h"

#include "gpucoord/coordination.h"
#include "gpucoord/potential_map.h"
#ifdef GPUCOORD_HAS_CUDA
#include "../../lib/gpucoord/src/coordination/coordination_cuda.h"
#endif

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

inline const std::string &backend_name()
{
  static const char *const variable = std::getenv("GPUCOORD_TEST_BACKEND");
  static const std::string name = variable ? variable : "host";
  return name;
}

inline bool on_host()
{
  return backend_name() == "host";
}

inline std::unique_ptr<gpucoord::Coordination>
make_backend(const gpucoord::SwitchTable &table, gpucoord::Precision precision, int nthreads)
{
  if (on_host()) return gpucoord::make_host_coordination(table, precision, nthreads);
#ifdef GPUCOORD_HAS_CUDA
  gpucoord::CudaTuning tuning;
  tuning.keeps_lists = backend_name() == "auto";
  if (tuning.keeps_lists || backend_name() == "cells")
    return gpucoord::make_cuda_coordination(table, precision, 0, nthreads, tuning);
#endif
  throw std::invalid_argument("GPUCOORD_TEST_BACKEND is " + backend_name() +
                              ", which this build has not");
}

// Accepts any name of a CUDA backend, because maps have only one.
inline std::unique_ptr<gpucoord::PotentialMap> make_map(const gpucoord::MapOptions &options,
                                                        gpucoord::Precision precision, int nthreads)
{
  return on_host() ? gpucoord::make_host_potential_map(options, precision, nthreads)
                   : gpucoord::make_cuda_potential_map(options, precision, 0, nthreads);
}

// Checked in SetUp() instead of main(), so that tests can be listed without a GPU.
class NeedBackend : public testing::Environment {
 public:
  void SetUp() override
  {
    if (!on_host()) need_gpu();
  }
};
inline testing::Environment *const need_backend =
    testing::AddGlobalTestEnvironment(new NeedBackend);

#endif
