// Part of GPUCOORD, GPL-2.0. Rigid molecules that are resident on a GPU: gathers molecules and adds
// the results.
//
// Launches: one thread per atom or molecule, 256 threads per block. find_components: one block with
// a thread per component. No shared memory.

#include "gpucoord/counters.h"
#include "gpucoord/resident_multisite.h"

#include "../gpu/buffers.h"
#include "../gpu/forces.cuh"
#include "../gpu/positions.cuh"
#include "../gpu/staging.h"
#include "molecule_engine_cuda.h"
#include "own_molecule.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cmath>

namespace gpucoord {

namespace {

  constexpr int THREADS = 256;
  constexpr int NO_ATOM = 0x7fffffff;

  unsigned blocks_of(int n)
  {
    return (n + THREADS - 1u) / THREADS;
  }

  struct Widen {
    __host__ __device__ Bounds operator()(const Bounds &a, const Bounds &b) const
    {
      Bounds both;
      for (int c = 0; c < 3; ++c) {
        both.lo[c] = fmin(a.lo[c], b.lo[c]);
        both.hi[c] = fmax(a.hi[c], b.hi[c]);
      }
      return both;
    }
  };

  // Returns the bounds of one atom that is a molecule.
  template <class X> struct BoundsOf {
    const X *x;
    const int *row;

    __host__ __device__ Bounds operator()(int k) const
    {
      const X *const p = x + 3 * static_cast<std::size_t>(row[k]);
      Bounds at;
      for (int c = 0; c < 3; ++c) {
        const double coordinate = p[c];
        at.lo[c] = isfinite(coordinate) ? coordinate : HUGE_VAL;
        at.hi[c] = isfinite(coordinate) ? coordinate : -HUGE_VAL;
      }
      return at;
    }
  };

  __global__ void number_components(const int *type, const int *component_of, int none, int nall,
                                    int *component, int *row)
  {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= nall) return;
    const int c = component_of[type[i]];
    component[i] = c < 0 ? none : c;
    row[i] = i;
  }

  // Returns the index of the first value in [begin, end) that is not less than 'value'. The values
  // must be ascending.
  __device__ int first_not_below(const int *values, int begin, int end, int value)
  {
    while (begin < end) {
      const int middle = begin + (end - begin) / 2;
      if (values[middle] < value)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }

  // component: [nall] ascending. row: [nall] ascending within each component.
  __global__ void find_components(const int *component, const int *row, int nall, int nlocal,
                                  int ncomponents, ComponentRows *rows)
  {
    for (int c = threadIdx.x; c < ncomponents; c += blockDim.x) {
      const int begin = first_not_below(component, 0, nall, c),
                end = first_not_below(component, begin, nall, c + 1);
      rows[c] = {begin, end - begin, first_not_below(row, begin, end, nlocal) - begin};
    }
  }

  // Returns w x y z of a body.
  __device__ const double *quaternion_of(const DeviceBodies &bodies, int body)
  {
    return reinterpret_cast<const double *>(static_cast<const char *>(bodies.quaternion) +
                                            bodies.stride * body);
  }

  struct Errors {
    int bad_atom;    // NO_ATOM: there is no bad atom
    int types_changed;
  };

  struct GatherArguments {
    const int *type;            // [nall]
    const int *component_of;    // [types + 1]
    DeviceBodies bodies;
    const int *row, *component;    // [n] rows and components of the molecules
    int n;
    double3 anywhere;        // a position within the bins, which replaces bad positions
    DeviceAtom *molecule;    // [n]
    double *quaternion;      // [n][4]
    Errors *errors;
  };

  template <class X> __global__ void gather_molecules(const X *x, const GatherArguments arg)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= arg.n) return;
    const int row = arg.row[k];
    double3 p = position_of(x, row);
    double q[4] = {1.0, 0.0, 0.0, 0.0};
    const int body = arg.bodies.body_of_atom[row];
    bool is_bad = body < 0;
    if (!is_bad) {
      const double *const from = quaternion_of(arg.bodies, body);
      for (int c = 0; c < 4; ++c) q[c] = from[c];
      const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
      is_bad = !(fabs(length - 1.0) <= QUATERNION_TOLERANCE);
    }
    if (!isfinite(p.x) || !isfinite(p.y) || !isfinite(p.z)) {
      is_bad = true;
      p = arg.anywhere;
    }
    if (is_bad) atomicMin(&arg.errors->bad_atom, row);
    if (arg.component_of[arg.type[row]] != arg.component[k]) arg.errors->types_changed = 1;
    arg.molecule[k] = {p.x, p.y, p.z, row};
    for (int c = 0; c < 4; ++c) arg.quaternion[4 * static_cast<std::size_t>(k) + c] = q[c];
  }

  __global__ void add_forces_and_torques(const double *sums, int columns, const int *row_of, int n,
                                         const DeviceForces force, const DeviceForces torque)
  {
    const int k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= n) return;
    const double *const from = sums + static_cast<std::size_t>(columns) * k;
    subtract(force, row_of[k], -from[0], -from[1], -from[2]);
    subtract(torque, row_of[k], -from[3], -from[4], -from[5]);
  }

  class CudaResidentMultisite : public ResidentMultisite {
   public:
    CudaResidentMultisite(const MultisiteModel &model, const std::vector<int> &component_of,
                          Precision precision) :
        ncomponents(static_cast<int>(model.components().size())),
        rows(ncomponents)
    {
      engine = make_molecule_engine(model, precision, MultisiteTuning());
      send_table(component_of, types);
      send_table(std::vector<Errors>{NO_ERRORS}, errors);
      rows_device.reserve(ncomponents);
      rows_host.reserve(ncomponents);
      bounds_device.reserve(1);
      bounds_host.reserve(1);
      errors_host.reserve(1);
      total.reserve(1);
    }

    ResidentMultisiteErrors rebuild(const DeviceAtoms &atoms, DeviceStream stream) override
    {
      clear_errors();
      n = nowned = 0;
      rows.assign(ncomponents, {});
      fetch_errors(stream);
      if (atoms.nall > 0) {
        sort(atoms, stream);
        check(cudaMemcpyAsync(rows_host.data(), rows_device.data(),
                              ncomponents * sizeof(ComponentRows), cudaMemcpyDeviceToHost, stream),
              "copying data to the host");
      }
      check(cudaStreamSynchronize(stream), "sorting molecules by component");
      const ResidentMultisiteErrors found = last_errors();
      errors_host[0] = NO_ERRORS;
      check(cudaMemcpyAsync(errors.data(), errors_host.data(), sizeof(Errors),
                            cudaMemcpyHostToDevice, stream),
            "copying data to the GPU");
      if (atoms.nall > 0) rows.assign(rows_host.data(), rows_host.data() + ncomponents);
      for (const ComponentRows &component_rows : rows) {
        n += component_rows.n;
        nowned += component_rows.nowned;
      }
      if (nowned > 0) {
        find_owned_rows(stream);
        find_bounds(atoms, stream);
      }
      check(cudaStreamSynchronize(stream), "sorting molecules by component");
      return found;
    }

    void evaluate(const DeviceAtoms &atoms, const DeviceBodies &bodies, MultisiteWant want_in,
                  DeviceStream stream) override
    {
      GPUCOORD_COUNT(DEVICE_MOLECULES);
      want = want_in;
      if (nowned == 0) return;
      cudaGetLastError();
      molecules.reserve(n);
      quaternions.reserve(4 * static_cast<std::size_t>(n));
      GatherArguments arg = {};
      arg.type = atoms.type;
      arg.component_of = types.data();
      arg.bodies = bodies;
      arg.row = order.data();
      arg.component = keys_sorted.data();
      arg.n = n;
      arg.anywhere = make_double3(bounds.lo[0], bounds.lo[1], bounds.lo[2]);
      arg.molecule = molecules.data();
      arg.quaternion = quaternions.data();
      arg.errors = errors.data();
      with_positions(atoms, [&](const auto *x) {
        gather_molecules<<<blocks_of(n), THREADS, 0, stream>>>(x, arg);
      });
      check(cudaGetLastError(), "launching gather_molecules");
      engine->enqueue({rows.data(), molecules.data(), quaternions.data(), n, nowned, bounds}, want,
                      stream);
    }

    void evaluate(const DeviceAtoms &atoms, const DeviceBodies &bodies, MultisiteWant want_in,
                  const DeviceForces &force, const DeviceForces &torque,
                  DeviceStream stream) override
    {
      evaluate(atoms, bodies, want_in, stream);
      if (nowned == 0) return;
      add_forces_and_torques<<<blocks_of(nowned), THREADS, 0, stream>>>(
          engine->sums(), columns_of(want), owned_rows.data(), nowned, force, torque);
      check(cudaGetLastError(), "launching add_forces_and_torques");
    }

    ResidentMultisiteResult result(DeviceStream stream) override
    {
      const bool has_sums = want == MultisiteWant::ALL && nowned > 0;
      fetch_errors(stream);
      if (has_sums)
        check(cudaMemcpyAsync(total.data(), engine->total(), sizeof(MoleculeSums),
                              cudaMemcpyDeviceToHost, stream),
              "copying data to the host");
      check(cudaStreamSynchronize(stream), "computing rigid molecules");
      ResidentMultisiteResult found = {last_errors(), {}};
      if (has_sums) found.sums = sums_of(total[0]);
      return found;
    }

    void add_to(const MultisiteResults &out, DeviceStream stream) override
    {
      if (nowned == 0) return;
      const std::size_t columns = columns_of(want);
      std::vector<double> sums(columns * nowned);
      std::vector<int> to(nowned);
      check(cudaMemcpyAsync(sums.data(), engine->sums(), sums.size() * sizeof(double),
                            cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
      check(cudaMemcpyAsync(to.data(), owned_rows.data(), to.size() * sizeof(int),
                            cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
      check(cudaStreamSynchronize(stream), "computing rigid molecules");
      for (int k = 0; k < nowned; ++k) add_row(sums.data() + columns * k, to[k], want, out);
    }

    std::size_t bytes() const override
    {
      return engine->bytes() + keys.bytes() + keys_sorted.bytes() + unsorted.bytes() +
          order.bytes() + owned_rows.bytes() + molecules.bytes() + quaternions.bytes() +
          workspace.bytes() + types.bytes();
    }

   private:
    static constexpr Errors NO_ERRORS = {NO_ATOM, 0};

    void fetch_errors(cudaStream_t stream)
    {
      check(cudaMemcpyAsync(errors_host.data(), errors.data(), sizeof(Errors),
                            cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
    }
    // Returns the errors after a wait.
    ResidentMultisiteErrors last_errors() const
    {
      const Errors &found = errors_host[0];
      return {found.bad_atom == NO_ATOM ? -1 : found.bad_atom, found.types_changed != 0};
    }

    // Sorts the rows of all atoms by component. Atoms that are not molecules come last.
    void sort(const DeviceAtoms &atoms, cudaStream_t stream)
    {
      const int nall = atoms.nall;
      keys.reserve(nall);
      keys_sorted.reserve(nall);
      unsorted.reserve(nall);
      order.reserve(nall);
      number_components<<<blocks_of(nall), THREADS, 0, stream>>>(
          atoms.type, types.data(), ncomponents, nall, keys.data(), unsorted.data());
      check(cudaGetLastError(), "launching number_components");
      int bits = 1;
      while (ncomponents >> bits) ++bits;
      std::size_t bytes = 0;
      const auto run = [&](void *memory) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, keys.data(), keys_sorted.data(),
                                               unsorted.data(), order.data(), nall, 0, bits,
                                               stream);
      };
      check(run(nullptr), "planning a sort");
      workspace.reserve(bytes);
      check(run(workspace.data()), "sorting molecules by component");
      find_components<<<1, THREADS, 0, stream>>>(keys_sorted.data(), order.data(), nall,
                                                 atoms.nlocal, ncomponents, rows_device.data());
      check(cudaGetLastError(), "launching find_components");
    }

    void find_owned_rows(cudaStream_t stream)
    {
      owned_rows.reserve(nowned);
      std::size_t to = 0;
      for (const ComponentRows &component_rows : rows) {
        check(cudaMemcpyAsync(owned_rows.data() + to, order.data() + component_rows.first,
                              component_rows.nowned * sizeof(int), cudaMemcpyDeviceToDevice,
                              stream),
              "copying data on the GPU");
        to += component_rows.nowned;
      }
    }

    // Finds the bounds of all molecules at the rebuild. Later, molecules may be slightly outside.
    void find_bounds(const DeviceAtoms &atoms, cudaStream_t stream)
    {
      with_positions(atoms, [&](const auto *x) {
        using X = std::remove_const_t<std::remove_pointer_t<decltype(x)>>;
        std::size_t bytes = 0;
        const auto boxes = thrust::make_transform_iterator(thrust::counting_iterator<int>(0),
                                                           BoundsOf<X>{x, order.data()});
        const auto run = [&](void *memory) {
          return cub::DeviceReduce::Reduce(memory, bytes, boxes, bounds_device.data(), n, Widen(),
                                           no_bounds(), stream);
        };
        check(run(nullptr), "planning a reduction");
        workspace.reserve(bytes);
        check(run(workspace.data()), "finding the bounds of molecules");
      });
      check(cudaMemcpyAsync(bounds_host.data(), bounds_device.data(), sizeof(Bounds),
                            cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
      check(cudaStreamSynchronize(stream), "finding the bounds of molecules");
      bounds = bounds_host[0];
      for (int c = 0; c < 3; ++c)
        // There is no finite position.
        if (!(bounds.lo[c] <= bounds.hi[c])) bounds.lo[c] = bounds.hi[c] = 0.0;
    }

    const int ncomponents;
    std::unique_ptr<MoleculeEngine> engine;
    MultisiteWant want = MultisiteWant::FORCES;    // outputs of the last evaluation
    int n = 0, nowned = 0;                         // number of molecules; number of owned molecules
    std::vector<ComponentRows> rows;
    Bounds bounds = {};

    DeviceBuffer<int> types;    // [types + 1] component of each type
    DeviceBuffer<int> keys, keys_sorted, unsorted, order, owned_rows;
    DeviceBuffer<ComponentRows> rows_device;
    PinnedBuffer<ComponentRows> rows_host;
    DeviceBuffer<Bounds> bounds_device;
    PinnedBuffer<Bounds> bounds_host;
    DeviceBuffer<DeviceAtom> molecules;
    DeviceBuffer<double> quaternions;
    DeviceBuffer<Errors> errors;
    PinnedBuffer<Errors> errors_host;
    PinnedBuffer<MoleculeSums> total;
    DeviceBuffer<char> workspace;
  };

  struct AxesArguments {
    const int *type, *mask;    // [nlocal]
    int nlocal;
    const int *axis_of;    // [types + 1]
    int groupbit;
    DeviceBodies bodies;
    DeviceForces vectors;
  };

  template <class T> __global__ void remove_along_axes(const AxesArguments arg)
  {
    const int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= arg.nlocal || !(arg.mask[i] & arg.groupbit)) return;
    const int k = arg.axis_of[arg.type[i]], body = arg.bodies.body_of_atom[i];
    if (k < 0 || body < 0) return;
    const double *const q = quaternion_of(arg.bodies, body);
    const Rotation<double> turned(Four<double>{q[1], q[2], q[3], q[0]});
    const Vector<double> axis =
        turned(Four<double>{k == 0 ? 1.0 : 0.0, k == 1 ? 1.0 : 0.0, k == 2 ? 1.0 : 0.0, 0.0});
    T *const v = static_cast<T *>(arg.vectors.f) + arg.vectors.atom_stride * i;
    T &x = v[0], &y = v[arg.vectors.axis_stride], &z = v[2 * arg.vectors.axis_stride];
    const double part = dot(Vector<double>{x, y, z}, axis);
    x = static_cast<T>(x - part * axis.x);
    y = static_cast<T>(y - part * axis.y);
    z = static_cast<T>(z - part * axis.z);
  }

  class Axes : public ResidentAxes {
   public:
    explicit Axes(const std::vector<int> &axis_of) { send_table(axis_of, axes); }
    void remove_axial_components(const DeviceAtoms &atoms, const DeviceBodies &bodies, int groupbit,
                                 const DeviceForces &vectors, DeviceStream stream) const override
    {
      if (atoms.nlocal == 0) return;
      cudaGetLastError();
      const AxesArguments arg = {atoms.type, atoms.mask, atoms.nlocal, axes.data(),
                                 groupbit,   bodies,     vectors};
      const unsigned blocks = blocks_of(atoms.nlocal);
      if (vectors.is_float)
        remove_along_axes<float><<<blocks, THREADS, 0, stream>>>(arg);
      else
        remove_along_axes<double><<<blocks, THREADS, 0, stream>>>(arg);
      check(cudaGetLastError(), "launching remove_along_axes");
    }

    std::size_t bytes() const override { return axes.bytes(); }

   private:
    DeviceBuffer<int> axes;    // [types + 1] axis of each type
  };

}    // namespace

std::unique_ptr<ResidentMultisite> make_resident_multisite(const MultisiteModel &model,
                                                           const std::vector<int> &component_of,
                                                           Precision precision)
{
  return std::make_unique<CudaResidentMultisite>(model, component_of, precision);
}

std::unique_ptr<ResidentAxes> make_resident_axes(const std::vector<int> &axis_of)
{
  return std::make_unique<Axes>(axis_of);
}

}    // namespace gpucoord
