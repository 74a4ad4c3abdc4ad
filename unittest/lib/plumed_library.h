// Part of GPUCOORD, GPL-2.0. Values, derivatives and virials of a real PLUMED, by its C functions.
//
// The environment variable GPUCOORD_TEST_PLUMED is described in unittest/commands/plumedtest.py.

#ifndef GPUCOORD_TEST_PLUMED_LIBRARY_H
#define GPUCOORD_TEST_PLUMED_LIBRARY_H

#include "geometry_systems.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

// The C functions of libplumedKernel.so.
struct Plumed {
  explicit Plumed(const std::string &file) : handle(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL))
  {
    if (!handle) return;
    create = reinterpret_cast<void *(*) ()>(dlsym(handle, "plumed_plumedmain_create"));
    command = reinterpret_cast<void (*)(void *, const char *, const void *)>(
        dlsym(handle, "plumed_plumedmain_cmd"));
    finalize = reinterpret_cast<void (*)(void *)>(dlsym(handle, "plumed_plumedmain_finalize"));
  }
  bool exists() const { return create && command && finalize; }

  void *handle;
  void *(*create)() = nullptr;
  void (*command)(void *, const char *, const void *) = nullptr;
  void (*finalize)(void *) = nullptr;
};

struct PlumedResult {
  double value = 0.0, virial[3][3] = {};
  std::vector<double> gradients;
};

// lines: of an input that defines s. Its restraint has the energy s, and the force -ds/dx.
inline PlumedResult by_plumed(const Plumed &plumed, const std::vector<std::string> &lines,
                              GeometrySystem system, std::vector<double> mass)
{
  void *const object = plumed.create();
  const auto set = [&](const std::string &key, const void *value) {
    plumed.command(object, key.c_str(), value);
  };
  const int real = sizeof(double), n = static_cast<int>(mass.size()), step = 0;
  const double dt = 1.0;
  PlumedResult result;
  std::vector<double> forces(3 * mass.size(), 0.0), charges(mass.size(), 0.0);
  set("setRealPrecision", &real);
  set("setNatoms", &n);
  set("setTimestep", &dt);
  set("setMDEngine", "test");
  set("setLogFile", "/dev/null");
  set("init", nullptr);
  for (const std::string &line : lines) set("readInputLine", line.c_str());
  set("readInputLine", "RESTRAINT ARG=s AT=0 KAPPA=0 SLOPE=1");
  set("setStep", &step);
  set("setPositions", system.x.data());
  set("setMasses", mass.data());
  set("setCharges", charges.data());
  set("setForces", forces.data());
  set("setVirial", result.virial);
  if (system.shape.periodic[0]) set("setBox", system.shape.edges);
  set("calc", nullptr);
  set("getBias", &result.value);
  plumed.finalize(object);
  for (const double f : forces) result.gradients.push_back(-f);
  return result;
}

// The tests of a program with PLUMED, which are skipped without it.
class WithPlumed : public testing::Test {
 protected:
  void SetUp() override
  {
    const char *const folder = std::getenv("GPUCOORD_TEST_PLUMED");
    if (!folder || !*folder)
      GTEST_SKIP() << "SKIPPED: GPUCOORD_TEST_PLUMED is not set to the folder of a PLUMED";
    plumed = std::make_unique<Plumed>(std::string(folder) + "/plumed/_lib/lib/libplumedKernel.so");
    ASSERT_TRUE(plumed->exists()) << dlerror();
  }
  std::unique_ptr<Plumed> plumed;
};

#endif
