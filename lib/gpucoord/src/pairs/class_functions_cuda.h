// Part of GPUCOORD, GPL-2.0. The functions of kernels over partner lists: one function, or the
// functions of one formula between classes of types.

#ifndef GPUCOORD_CLASS_FUNCTIONS_CUDA_H
#define GPUCOORD_CLASS_FUNCTIONS_CUDA_H

#include "../gpu/bins.h"
#include "../gpu/buffers.h"
#include "../gpu/staging.h"
#include "../switching/formula_constants_cuda.h"
#include "class_tables.h"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpucoord {

// Threads per block of gather kernels and of kernels of order parameters.
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

template <class Real> struct OneFunction {
  static constexpr bool IS_WEIGHTED = false;
  // In double, kernels with the virial have many registers.
  static constexpr int BLOCK_THREADS = sizeof(Real) == sizeof(float) ? 256 : 128;
  FormulaConstants<Real> constants;

  int shared_bytes() const { return 0; }

#ifdef __CUDACC__
  // The functions of atoms, as in FunctionsByClass.
  __device__ std::nullptr_t load() const
  {
    return nullptr;
  }
  template <class Point>
  __device__ std::nullptr_t of_atom(std::nullptr_t loaded, const Point &) const
  {
    return loaded;
  }
  template <class Formula, class Point>
  __device__ const FormulaConstants<Real> &get(std::nullptr_t, const Point &, const Point &) const
  {
    return constants;
  }
#endif
};

template <class Real, ClassTable TABLE> struct FunctionsByClass {
  static constexpr bool IS_WEIGHTED = false;
  static constexpr bool IS_SHARED = TABLE != ClassTable::IN_MEMORY;
  // All threads of a block share the copies of the table, so that larger blocks leave room for more
  // copies. The bits of S and of the virial depend on this number.
  static constexpr int BLOCK_THREADS = 512;
  using Element = FunctionOfClasses<Real, TABLE>;

  FormulaConstants<Real> constants;    // constants that are the same for all functions
  int nclasses;
  const Element *functions;    // [classes][classes]
  // Number of copies of the table in shared memory, a power of 2; 0: the table is too large. The
  // copies of an element are next to each other, in different banks, and adjacent threads read
  // different copies. With one copy, threads whose partners differ in type read from the same banks
  // and wait for each other.
  int ncopies;
  // [NCONSTANTS][classes][classes] all constants, for formulas that read more than an element
  const Real *all;
  unsigned varying;           // bit k: constant k differs between functions
  Real stretch_plus_shift;    // SAME_RANGE

  // Bytes of shared memory per block.
  int shared_bytes() const
  {
    return IS_SHARED ? static_cast<int>(sizeof(Element)) * nclasses * nclasses * ncopies : 0;
  }

#ifdef __CUDACC__
  // Copies the functions to shared memory. L1 would serve the threads of a warp one cache line at a
  // time. Returns the copy of this thread. All threads of a block must call this function.
  __device__ const Element *load() const
  {
    if constexpr (!IS_SHARED) return functions;
    extern __shared__ uint4 functions_of_block[];
    auto *const copy = reinterpret_cast<Element *>(functions_of_block);
    const int log2_copies = __ffs(ncopies) - 1;
    for (int k = threadIdx.x; k < nclasses * nclasses << log2_copies; k += blockDim.x)
      copy[k] = functions[k >> log2_copies];
    __syncthreads();
    return copy + threadIdx.x % ncopies;
  }

  // Distance between adjacent elements of load().
  __device__ int stride() const
  {
    return IS_SHARED ? ncopies : 1;
  }
  // Returns the functions between the class of an atom and all classes. loaded: result of load()
  template <class Point>
  __device__ const Element *of_atom(const Element *loaded, const Point &atom) const
  {
    return loaded + class_of(atom) * nclasses * stride();
  }

  // functions_of_atom: result of of_atom()
  template <class Formula, class Point>
  __device__ FormulaConstants<Real> get(const Element *functions_of_atom, const Point &atom,
                                        const Point &partner) const
  {
    const Element function = functions_of_atom[class_of(partner) * stride()];
    FormulaConstants<Real> c = constants;
    c.inv_r0 = function.inv_r0;
    c.inv_r0_sq = function.inv_r0 * function.inv_r0;
    if constexpr (TABLE != ClassTable::SAME_RANGE) c.dmax_sq = function.dmax_sq;
    if constexpr (TABLE != ClassTable::SAME_SCALE) {
      c.shift = function.shift;
      if constexpr (TABLE == ClassTable::SAME_RANGE)
        c.stretch = stretch_plus_shift - function.shift;
      else
        c.stretch = function.stretch;
    }
    c.dfunc_scale = Formula::POWER == 2 ? Real(2) * c.stretch * c.inv_r0_sq : c.stretch * c.inv_r0;
    const auto other = [&](int k, Real &constant) {
      if (varying >> k & 1)
        constant = __ldg(all + (k * nclasses + class_of(atom)) * nclasses + class_of(partner));
    };
    if constexpr (Formula::STARTS_AT_1)
      c.top = c.stretch + c.shift;
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
  template <class Point> __device__ Real weight_of(const Point &, int index) const
  {
    return weights[index];
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

// The functions of one formula between classes, and their device memory.
template <class Real> class ClassFunctions {
 public:
  // constants: by index of the function; null: the function has another formula
  ClassFunctions(const TypeClasses &classes,
                 const std::vector<const FormulaConstants<Real> *> &constants) :
      host(classes, {constants.begin(), constants.end()})
  {
    for (const auto *const c : constants)
      if (c) same = *c;    // with the program of an expression
    static_cast<SwitchConstants<Real> &>(same) = host.constants;
    send_table(host.elements, elements);
    if (!host.short_elements.empty()) send_table(host.short_elements, short_elements);
    send_table(host.all, all);
  }

  ClassTable smallest_table() const { return host.smallest; }
  bool fits_shared_memory() const { return host.fits_shared_memory(); }
  // TABLE: smallest_table(), SHARED if it fits, or IN_MEMORY
  template <ClassTable TABLE> FunctionsByClass<Real, TABLE> arguments() const
  {
    const bool is_short = TABLE == ClassTable::SAME_SCALE || TABLE == ClassTable::SAME_RANGE;
    const void *const table = is_short ? static_cast<const void *>(short_elements.data())
                                       : elements.data();
    return {same,
            host.nclasses,
            static_cast<const FunctionOfClasses<Real, TABLE> *>(table),
            host.template copies<TABLE>(),
            all.data(),
            host.varying,
            host.stretch_plus_shift};
  }
  std::size_t bytes() const { return elements.bytes() + short_elements.bytes() + all.bytes(); }

 private:
  const ClassTables<Real> host;
  FormulaConstants<Real> same = {};    // constants that are the same for all functions
  DeviceBuffer<typename ClassTables<Real>::Element> elements;
  DeviceBuffer<Real> short_elements, all;
};

}    // namespace gpucoord

#endif
