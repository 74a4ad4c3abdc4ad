// Part of GPUCOORD, GPL-2.0. The functions of kernels over partner lists: one function, or the
// functions of one formula between classes of types.
//
// With classes, each partner has its own constants, and loads limit the kernels. A table in shared
// memory therefore combines the constants that most formulas read, one element per pair of classes.
// There are several copies of the table.

#ifndef GPUCOORD_CLASS_FUNCTIONS_CUDA_H
#define GPUCOORD_CLASS_FUNCTIONS_CUDA_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"
#include "../gpu/staging.h"
#include "../switching/formula_constants_cuda.h"
#include "../switching/type_classes.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

// Threads per block of gather kernels, of kernels of order parameters, and of sum_partners with one
// function.
constexpr int GATHER_THREADS = 128;

// The class is next to the position of an integer point, and in the upper half of the id of a
// DeviceAtom.
__host__ __device__ inline int class_of(const int4 &point)
{
  return point.w;
}
__host__ __device__ inline int class_of(const DeviceAtom &atom)
{
  return static_cast<int>(atom.id >> 32);
}
__host__ __device__ inline std::int64_t id_with_class(int row, int c)
{
  return static_cast<std::int64_t>(c) << 32 | static_cast<std::uint32_t>(row);
}

// The constants of a pair of classes that most formulas read, in one load.
template <class Real> struct alignas(16) FunctionOfClasses {
  Real inv_r0;            // 1/distance
  Real dmax_sq;           // distance^2, negative: no function
  Real stretch, shift;    // multiplied by the weight of the pair
};

template <class Real> struct OneFunction {
  static constexpr bool IS_BY_CLASS = false, IS_WEIGHTED = false;
  static constexpr int BLOCK_THREADS = GATHER_THREADS;
  FormulaConstants<Real> constants;

#ifdef __CUDACC__
  __device__ const FunctionOfClasses<Real> *load() const
  {
    return nullptr;
  }
  template <class Formula, class Point>
  __device__ const FormulaConstants<Real> &get(const FunctionOfClasses<Real> *, const Point &,
                                               const Point &) const
  {
    return constants;
  }
#endif
};

template <class Real> struct FunctionsByClass {
  static constexpr bool IS_BY_CLASS = true, IS_WEIGHTED = false;
  // All threads of a block share the copies of the table, so that larger blocks leave room for more
  // copies. The bits of S and of the virial depend on this number.
  static constexpr int BLOCK_THREADS = 4 * GATHER_THREADS;
  static constexpr int MAX_SHARED_BYTES = 1 << 15;
  // The banks of shared memory deliver 128 bytes at a time. More copies would be in the same banks.
  static constexpr int MAX_COPIES = 128 / sizeof(FunctionOfClasses<Real>);

  FormulaConstants<Real> constants;    // constants that are the same for all functions
  int nclasses;
  // Number of copies of the table in shared memory, a power of 2; 0: the table is too large. The
  // copies of an element are next to each other, in different banks, and adjacent threads read
  // different copies. With one copy, threads whose partners differ in type read from the same banks
  // and wait for each other.
  int ncopies;
  const FunctionOfClasses<Real> *functions;    // [classes][classes]
  // [NCONSTANTS][classes][classes] all constants, for formulas that read more than
  // FunctionOfClasses
  const Real *all;
  unsigned varying;    // bit k: constant k differs between functions

  // Bytes of shared memory per block; 0: there are too many functions for shared memory.
  int shared_bytes() const
  {
    return static_cast<int>(sizeof(*functions)) * nclasses * nclasses * ncopies;
  }

#ifdef __CUDACC__
  // Copies the functions to shared memory. L1 would serve the threads of a warp one cache line at a
  // time. Returns the copy of this thread, whose elements are ncopies apart, or the functions in
  // global memory if there are no copies. All threads of a block must call this function.
  __device__ const FunctionOfClasses<Real> *load() const
  {
    extern __shared__ uint4 functions_of_block[];
    const int n = ncopies;
    if (n == 0) return functions;
    auto *const copy = reinterpret_cast<FunctionOfClasses<Real> *>(functions_of_block);
    for (int k = threadIdx.x; k < nclasses * nclasses * n; k += blockDim.x)
      copy[k] = functions[k / n];
    __syncthreads();
    return copy + threadIdx.x % n;
  }

  // loaded: result of load()
  template <class Formula, class Point>
  __device__ FormulaConstants<Real> get(const FunctionOfClasses<Real> *loaded, const Point &atom,
                                        const Point &partner) const
  {
    const int index = class_of(atom) * nclasses + class_of(partner);
    const FunctionOfClasses<Real> function = loaded[index * max(1, ncopies)];
    FormulaConstants<Real> c = constants;
    c.inv_r0 = function.inv_r0;
    c.inv_r0_sq = function.inv_r0 * function.inv_r0;
    c.dmax_sq = function.dmax_sq;
    c.stretch = function.stretch;
    c.shift = function.shift;
    c.dfunc_scale = Formula::POWER == 2 ? Real(2) * function.stretch * c.inv_r0_sq
                                        : function.stretch * function.inv_r0;
    const auto other = [&](int k, Real &constant) {
      if (varying >> k & 1) constant = __ldg(all + k * nclasses * nclasses + index);
    };
    if constexpr (Formula::STARTS_AT_1)
      c.top = function.stretch + function.shift;
    else
      other(6, c.top);
    static_assert(NCONSTANTS == 16, "all constants are set here");
    // Indices in CONSTANTS_PER_FUNCTION. Constants that a formula does not read are not loaded.
    other(2, c.d0);
    other(8, c.n);
    other(9, c.m);
    other(10, c.q);
    other(11, c.a);
    other(12, c.b);
    other(13, c.k);
    other(14, c.beta);
    other(15, c.center);
    return c;
  }
#endif
};

// Functions of a second pass, whose partners have weights.
template <class Functions, class Real> struct WithWeights : Functions {
  static constexpr bool IS_WEIGHTED = true, IS_IN_POINTS = false;
  const Real *weights;    // [points]

#ifdef __CUDACC__
  template <class Point> __device__ Real weight_of(const Point &, int number) const
  {
    return weights[number];
  }
#endif
};

// One function. The weight is stored in place of the class, so that a load of a point includes it.
template <> struct WithWeights<OneFunction<float>, float> : OneFunction<float> {
  static constexpr bool IS_WEIGHTED = true, IS_IN_POINTS = true;

#ifdef __CUDACC__
  __device__ float weight_of(const int4 &point, int) const
  {
    return __int_as_float(point.w);
  }
#endif
};

template <class Functions, class Real>
WithWeights<Functions, Real> weighted(const Functions &functions, const Real *weights)
{
  WithWeights<Functions, Real> result = {functions};
  if constexpr (!WithWeights<Functions, Real>::IS_IN_POINTS) result.weights = weights;
  return result;
}

// Device memory of FunctionsByClass.
template <class Real> struct ClassFunctionBuffers {
  DeviceBuffer<FunctionOfClasses<Real>> functions;
  DeviceBuffer<Real> all;
};

// Makes the constants of functions that have the same formula and the same integer exponents.
// constants: by index of the function; null: the function has another formula
template <class Real>
FunctionsByClass<Real>
make_functions_by_class(const TypeClasses &classes,
                        const std::vector<const FormulaConstants<Real> *> &constants,
                        ClassFunctionBuffers<Real> &buffers)
{
  const int n = classes.size();
  FunctionsByClass<Real> result = {};
  result.nclasses = n;
  result.ncopies = FunctionsByClass<Real>::MAX_COPIES;
  while (result.ncopies * sizeof(*result.functions) * n * n >
         FunctionsByClass<Real>::MAX_SHARED_BYTES)
    result.ncopies /= 2;
  for (const auto *const c : constants)
    if (c) result.constants = *c;
  std::vector<FunctionOfClasses<Real>> functions;
  std::vector<Real> all(static_cast<std::size_t>(NCONSTANTS) * n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const auto &between = classes(i, j);
      const auto *const own = between.exists() ? constants[between.function] : nullptr;
      SwitchConstants<Real> c = own ? *own : result.constants;
      if (!own) c.dmax_sq = -1;
      for (Real *const factor : {&c.stretch, &c.shift, &c.top})
        *factor *= own ? static_cast<Real>(between.weight) : Real(0);
      functions.push_back({c.inv_r0, c.dmax_sq, c.stretch, c.shift});
      for (int k = 0; k < NCONSTANTS; ++k) {
        const auto constant = CONSTANTS_PER_FUNCTION<Real>[k];
        if (c.*constant != result.constants.*constant) result.varying |= 1u << k;
        all[(static_cast<std::size_t>(k) * n + i) * n + j] = c.*constant;
      }
    }
  send_table(functions, buffers.functions);
  send_table(all, buffers.all);
  result.functions = buffers.functions.data();
  result.all = buffers.all.data();
  return result;
}

}    // namespace gpucoord

#endif
