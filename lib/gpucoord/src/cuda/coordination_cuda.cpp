// Part of GPUCOORD, GPL-2.0. The CUDA backend: what is copied, and which kernels run.
//
// All work of an evaluation is enqueued on one stream, and the host waits once, for the
// results. Host arrays are copied through pinned memory, in chunks, so that the host
// prepares one while another is on its way.

#include "coordination_cuda.h"

#include "../common/engine_parts.h"
#include "../common/switch_dispatch.h"
#include "launch.h"
#include "reduction.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <vector>

namespace gpucoord {

namespace {

  template <class Real> class CudaCoordination : public Coordination {
   public:
    CudaCoordination(const Switch &function_in, Precision precision, int nthreads_in, const CudaTuning &tuning) :
        function(function_in), nthreads(std::max(1, nthreads_in))
    {
      check_kernels();
      int current = 0;
      check(cudaGetDevice(&current), "asking for the current GPU");
      check(cudaDeviceGetAttribute(&shape.multiprocessors, cudaDevAttrMultiProcessorCount, current),
            "asking for its size");
      bins_always = tuning.processor != CudaTuning::Processor::AUTO;
      shape.block_processor = tuning.processor == CudaTuning::Processor::BLOCK;
      shape.warps_per_block = tuning.warps_per_block;
      static_cast<SwitchConstants<Real> &>(constants) = make_constants<Real>(function);
      if (function.options().kind == SwitchKind::CUSTOM) {
        get_launchers<InterpretedSwitch>(precision, launchers);
        upload_program(compile_custom(function.options().expression));
      } else
        visit_formula(function, [&](auto formula) { get_launchers<decltype(formula)>(precision, launchers); });
      counters.reserve(2);
      totals.reserve(1);
      totals_host.reserve(1);
    }

    Contribution cells(const CellsInput &in, unsigned want, double *peratom) override
    {
      need_end(function, "cells");
      begin(want, peratom);
      const bool two = in.b.index != nullptr;
      Bounds bounds = no_bounds();
      stage_atoms(in.x, in.a, atoms_a, bounds);
      if (two) stage_atoms(in.x, in.b, atoms_b, bounds);
      copied.record(stream);

      const AtomList &b = two ? in.b : in.a;
      const Staged<DeviceAtom> &staged_b = two ? atoms_b : atoms_a;
      Contribution result;
      if (!bins_always && few_pairs(in.a, b)) {
        binned.record(stream);
        pass_all_pairs(Box(), atoms_a, in.a.nowned, staged_b, b.n, kernel_want(want), sums_a);
        if (two && peratom) pass_all_pairs(Box(), atoms_b, b.nowned, atoms_a, in.a.n, want_of_second(want), sums_b);
        finish(want, !two, result, peratom, in.a.index, in.b.index);
        return result;
      }

      CellsArguments arg = {};
      double volume = 1.0;
      for (int c = 0; c < 3; ++c) volume *= bounds.hi[c] - bounds.lo[c] + function.dmax();
      arg.grid = make_device_grid(bounds, std::max(in.a.n, b.n) / volume, function.dmax());
      arg.neighbourhood = make_neighbourhood(arg.grid, function.dmax());
      const SortedAtoms sorted_a = bins_a.sort(arg.grid, atoms_a.device.data(), in.a.n, in.a.nowned, stream);
      const SortedAtoms sorted_b =
          two ? bins_b.sort(arg.grid, atoms_b.device.data(), in.b.n, in.b.nowned, stream) : sorted_a;
      binned.record(stream);

      // a margin far above the rounding of Real: no pair is lost where boxes are compared
      arg.range_sq = function.dmax() * function.dmax() * (1.0 + 1e-5);
      arg.max_extent = tuning::MAX_COLUMN_WIDTH * function.dmax();
      check(cudaMemsetAsync(counters.data(), 0, 2 * sizeof(int), stream), "clearing the queues");
      const auto pass = [&](const SortedAtoms &i, const SortedAtoms &j, unsigned wanted, int *queue, Sums &sums) {
        if (i.nowned == 0 || j.n == 0) return;
        arg.i = i;
        arg.j = j;
        arg.queue = queue;
        const int warps = (i.nowned + team_size(shape) - 1) / team_size(shape) * (team_size(shape) / 32);
        arg.out = sums.prepare(i.nowned, splits_of(warps, tuning::MAX_SPLITS), warps, columns);
        launchers.cells(arg, constants, wanted, shape, stream);
        sums.add_splits(stream);
      };
      pass(sorted_a, sorted_b, kernel_want(want), counters.data(), sums_a);
      if (two && peratom) pass(sorted_b, sorted_a, want_of_second(want), counters.data() + 1, sums_b);
      finish(want, !two, result, peratom, in.a.index, in.b.index);
      return result;
    }

    Contribution list(const ListInput &in, unsigned want, double *peratom) override
    {
      need_end(function, "list");
      begin(want, peratom);
      const bool two = in.b.index != nullptr;
      // rows that may be asked for end with the last row of an owned atom or neighbour
      flatten(in, in.a, list_a);
      if (two && peratom) flatten(in, in.b, list_b);
      const int nall = std::max(list_a.last_row, two && peratom ? list_b.last_row : -1) + 1;
      stage(positions, in.x, 3 * static_cast<std::size_t>(nall));
      stage(members, in.member, nall);
      copied.record(stream);
      binned.record(stream);

      const auto pass = [&](FlatList &flat, unsigned char bit, unsigned wanted, Sums &sums) {
        if (flat.n == 0) return;
        ListArguments arg = {};
        arg.x = positions.device.data();
        arg.member = members.device.data();
        arg.bit = bit;
        arg.row = flat.row.device.data();
        arg.first = flat.first.device.data();
        arg.neighbour = flat.neighbour.device.data();
        arg.neighmask = in.neighmask;
        arg.n = flat.n;
        arg.out = sums.prepare(flat.n, 1, flat.n, columns);
        launchers.list(arg, constants, wanted, stream);
      };
      Contribution result;
      pass(list_a, two ? 2 : 1, kernel_want(want), sums_a);
      if (two && peratom) pass(list_b, 1, want_of_second(want), sums_b);
      finish(want, !two, result, peratom, in.a.index, in.b.index);
      return result;
    }

    Contribution allpairs(const AllPairsInput &in, unsigned want, double *peratom) override
    {
      begin(want, peratom);
      const bool two = in.b.x != nullptr;
      stage_gathered(in.a, atoms_a);
      if (two) stage_gathered(in.b, atoms_b);
      copied.record(stream);
      binned.record(stream);

      const auto pass = [&](const AllPairsInput::Group &gi, const Staged<DeviceAtom> &i, const AllPairsInput::Group &gj,
                            const Staged<DeviceAtom> &j, unsigned wanted, Sums &sums) {
        pass_all_pairs(in.box, i, static_cast<int>(gi.nowned), j, gj.n, wanted, sums, gi.first_owned);
      };
      Contribution result;
      pass(in.a, atoms_a, two ? in.b : in.a, two ? atoms_b : atoms_a, kernel_want(want), sums_a);
      if (two && peratom) pass(in.b, atoms_b, in.a, atoms_a, want_of_second(want), sums_b);
      finish(want, !two, result, peratom, in.a.row, in.b.row);
      return result;
    }

    Contribution pairs(const PairsInput &in, unsigned want, double *peratom) override
    {
      begin(want, peratom);
      if (in.n > std::numeric_limits<int>::max())
        throw DeviceError("more than 2147483647 pairs on one rank");
      stage(positions, in.xa, 3 * static_cast<std::size_t>(in.n));
      stage(positions_b, in.xb, 3 * static_cast<std::size_t>(in.n));
      send(members, static_cast<std::size_t>(in.n), [&](std::size_t first, std::size_t end) {
        for (std::size_t k = first; k < end; ++k) members.pinned[k] = in.row_a[k] >= 0;
      });
      copied.record(stream);
      binned.record(stream);

      Contribution result;
      if (in.n > 0) {
        PairsArguments arg = {};
        arg.box = in.box;
        arg.xa = positions.device.data();
        arg.xb = positions_b.device.data();
        arg.counts = members.device.data();
        arg.n = static_cast<int>(in.n);
        arg.out = sums_a.prepare(arg.n, 1, (arg.n + 31) / 32, columns);
        launchers.pairs(arg, constants, kernel_want(want), stream);
      }
      finish(want, false, result, peratom, nullptr, nullptr);
      if (!peratom) return result;
      // an atom may stand in many pairs: in order, so that the bits are always the same
      for (std::int64_t k = 0; k < in.n; ++k) add_pair(in, k, sums_a.host.data() + columns * k, columns, peratom);
      return result;
    }

   private:
    // a host array and its copy on the device
    template <class T> struct Staged {
      PinnedBuffer<T> pinned;
      DeviceBuffer<T> device;
      void reserve(std::size_t n)
      {
        pinned.reserve(n);
        device.reserve(n);
      }
    };

    // neighbour lists without gaps
    struct FlatList {
      Staged<int> row, neighbour;
      Staged<std::int64_t> first;
      int n = 0, last_row = -1;
      std::int64_t version = 0;
      std::vector<int> rows;    // that they were made for
    };

    // what a pass over the atoms of one group leaves
    struct Sums {
      DeviceBuffer<double> parts, device;    // [splits][n][columns], [n][columns]
      PinnedBuffer<double> host;             // [n][columns]
      DeviceBuffer<WarpSums> warp;
      int n = 0, nsplits = 0;
      std::size_t nwarps = 0, size = 0;    // size: n * columns

      SumsOut prepare(int n_in, int splits, std::size_t warps, int columns)
      {
        n = n_in;
        nsplits = splits;
        nwarps = splits * warps;
        size = columns * static_cast<std::size_t>(n);
        warp.reserve(nwarps);
        if (size > 0) {
          device.reserve(size);
          host.reserve(size);
          if (splits > 1) parts.reserve(size * splits);
        }
        return {size == 0 ? nullptr : splits > 1 ? parts.data() : device.data(), warp.data(), splits};
      }
      void add_splits(cudaStream_t stream)
      {
        if (size > 0 && nsplits > 1) gpucoord::add_splits(parts.data(), nsplits, size, device.data(), stream);
      }
    };

    // kernels exist for VALUE, DERIVATIVES, both with the virial, and all of it with ATOM_VIRIAL
    static unsigned kernel_want(unsigned want) { return want & VIRIAL ? want | DERIVATIVES : want; }

    static int splits_of(int warps, int most) { return std::clamp(tuning::ENOUGH_WARPS / warps, 1, most); }

    static Bounds no_bounds()
    {
      constexpr double infinity = std::numeric_limits<double>::infinity();
      return {{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
    }

    static bool few_pairs(const AtomList &a, const AtomList &b)
    {
      const double most = std::max(static_cast<double>(a.nowned) * b.n, static_cast<double>(b.nowned) * a.n);
      return most <= tuning::FEW_PAIRS;
    }

    // atoms first to first + n of i with all nj of j
    void pass_all_pairs(const Box &box, const Staged<DeviceAtom> &i, int n, const Staged<DeviceAtom> &j,
                        std::int64_t nj, unsigned want, Sums &sums, std::int64_t first = 0)
    {
      if (n == 0 || nj == 0) return;
      AllPairsArguments arg = {};
      arg.box = box;
      arg.i = i.device.data() + first;
      arg.j = j.device.data();
      arg.n = n;
      arg.nj = nj;
      const int warps = (n + GATHER_THREADS - 1) / GATHER_THREADS * (GATHER_THREADS / 32);
      const auto tiles = std::min<std::int64_t>((nj + tuning::ALL_PAIRS_TILE - 1) / tuning::ALL_PAIRS_TILE, tuning::MAX_SPLITS_ALL_PAIRS);
      arg.out = sums.prepare(n, splits_of(warps, static_cast<int>(tiles)), warps, columns);
      launchers.allpairs(arg, constants, want, stream);
      sums.add_splits(stream);
    }

    void upload_program(const CustomProgram &program)
    {
      std::vector<Instruction> both = program.value;
      both.insert(both.end(), program.slope.begin(), program.slope.end());
      instructions.reserve(both.size());
      check(cudaMemcpyAsync(instructions.data(), both.data(), both.size() * sizeof(Instruction),
                cudaMemcpyHostToDevice, stream), "copying the expression");
      check(cudaStreamSynchronize(stream), "copying the expression");
      constants.program = instructions.data();
      constants.nvalue = static_cast<int>(program.value.size());
      constants.nslope = static_cast<int>(program.slope.size());
    }

    void begin(unsigned want, double *&peratom)
    {
      if (!(want & DERIVATIVES)) peratom = nullptr;
      columns = peratom ? peratom_columns(want) : 0;
      start = seconds();
      cudaGetLastError();    // of others: a launch here must not be blamed for it
      sums_a.n = sums_b.n = 0;
      sums_a.nwarps = 0;
    }

    // fill(k) for k < n in chunks, each of which is sent to the device when it is there
    template <class T, class Fill> void send(Staged<T> &to, std::size_t n, Fill fill)
    {
      to.reserve(n);
      for (std::size_t first = 0; first < n; first += tuning::COPY_CHUNK) {
        const std::size_t size = std::min<std::size_t>(tuning::COPY_CHUNK, n - first);
        fill(first, first + size);
        check(cudaMemcpyAsync(to.device.data() + first, to.pinned.data() + first, size * sizeof(T),
                  cudaMemcpyHostToDevice, stream), "copying to it");
      }
    }

    template <class T> void stage(Staged<T> &to, const T *from, std::size_t n)
    {
      send(to, n, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t k = begin; k < end; ++k) to.pinned[k] = from[k];
      });
    }

    void stage_atoms(const double *x, const AtomList &list, Staged<DeviceAtom> &to, Bounds &bounds)
    {
      double lo0 = bounds.lo[0], lo1 = bounds.lo[1], lo2 = bounds.lo[2];
      double hi0 = bounds.hi[0], hi1 = bounds.hi[1], hi2 = bounds.hi[2];
      send(to, list.n, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096) \
    reduction(min : lo0, lo1, lo2) reduction(max : hi0, hi1, hi2)
        for (std::size_t k = begin; k < end; ++k) {
          const double *const p = x + 3 * static_cast<std::size_t>(list.index[k]);
          to.pinned[k] = {p[0], p[1], p[2], list.index[k]};
          lo0 = std::min(lo0, p[0]);
          lo1 = std::min(lo1, p[1]);
          lo2 = std::min(lo2, p[2]);
          hi0 = std::max(hi0, p[0]);
          hi1 = std::max(hi1, p[1]);
          hi2 = std::max(hi2, p[2]);
        }
      });
      bounds = {{lo0, lo1, lo2}, {hi0, hi1, hi2}};
    }

    void stage_gathered(const AllPairsInput::Group &group, Staged<DeviceAtom> &to)
    {
      send(to, static_cast<std::size_t>(group.n), [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
        for (std::size_t k = begin; k < end; ++k)
          to.pinned[k] = {group.x[3 * k], group.x[3 * k + 1], group.x[3 * k + 2], group.id[k]};
      });
    }

    void flatten(const ListInput &in, const AtomList &atoms, FlatList &flat)
    {
      const std::size_t n = atoms.nowned;
      if (in.version != 0 && flat.version == in.version && flat.rows.size() == n &&
          std::equal(flat.rows.begin(), flat.rows.end(), atoms.index))
        return;
      flat.version = 0;    // in case of an error half-way
      flat.rows.assign(atoms.index, atoms.index + n);
      flat.n = atoms.nowned;
      stage(flat.row, atoms.index, n);
      flat.first.reserve(n + 1);
      flat.first.pinned[0] = 0;
      for (std::size_t t = 0; t < n; ++t)
        flat.first.pinned[t + 1] = flat.first.pinned[t] + in.numneigh[atoms.index[t]];
      const std::size_t total = flat.first.pinned[n];
      check(cudaMemcpyAsync(flat.first.device.data(), flat.first.pinned.data(), (n + 1) * sizeof(std::int64_t),
                cudaMemcpyHostToDevice, stream), "copying to it");
      flat.neighbour.reserve(total);
      int last_row = -1;
#pragma omp parallel for schedule(static) num_threads(nthreads) reduction(max : last_row)
      for (std::size_t t = 0; t < n; ++t) {
        const int row = atoms.index[t];
        last_row = std::max(last_row, row);
        int *const to = flat.neighbour.pinned.data() + flat.first.pinned[t];
        for (int k = 0; k < in.numneigh[row]; ++k) {
          to[k] = in.firstneigh[row][k];
          last_row = std::max(last_row, to[k] & in.neighmask);
        }
      }
      if (total > 0)
        check(cudaMemcpyAsync(flat.neighbour.device.data(), flat.neighbour.pinned.data(), total * sizeof(int),
                  cudaMemcpyHostToDevice, stream), "copying to it");
      flat.last_row = last_row;
      flat.version = in.version;
    }

    // Sums over atoms, copies back, waits, and adds to peratom at these rows (null: leaves
    // the sums of group a in sums_a.host).
    void finish(unsigned want, bool halve, Contribution &result, double *peratom, const int *rows_a, const int *rows_b)
    {
      paired.record(stream);
      const bool any = sums_a.nwarps > 0;
      if (any) {
        if (sums_a.nwarps > static_cast<std::size_t>(std::numeric_limits<int>::max()))
          throw DeviceError("more than 2147483647 warps of atoms on one GPU");
        reduce(sums_a.warp.data(), static_cast<int>(sums_a.nwarps), totals.data(), workspace, stream);
      }
      reduced.record(stream);
      if (any)
        check(cudaMemcpyAsync(totals_host.data(), totals.data(), sizeof(WarpSums), cudaMemcpyDeviceToHost, stream),
              "copying from it");
      if (peratom) {
        fetch(sums_a, rows_a, peratom);
        fetch(sums_b, rows_b, peratom);
      }
      check(cudaStreamSynchronize(stream), "computing coordination numbers");
      if (any) {
        const double scale = halve ? 0.5 : 1.0;    // every pair was met from both its ends
        result.value = scale * totals_host[0].value;
        result.timings.tested = totals_host[0].tested;
        if (want & VIRIAL)
          for (int c = 0; c < 6; ++c) result.virial[c] = scale * totals_host[0].virial[c];
      }
      result.timings.bins = seconds_between(copied, binned);
      result.timings.pairs = seconds_between(binned, paired);
      result.timings.reduction = seconds_between(paired, reduced);
      result.timings.copies = seconds() - start - seconds_between(copied, reduced);
    }

    void fetch(Sums &sums, const int *rows, double *peratom)
    {
      const std::size_t n = sums.n;
      const std::size_t nchunks = (n + tuning::COPY_CHUNK - 1) / tuning::COPY_CHUNK;
      while (arrived.size() < nchunks) arrived.emplace_back();
      const auto chunk_end = [&](std::size_t chunk) { return std::min(n, (chunk + 1) * tuning::COPY_CHUNK); };
      for (std::size_t chunk = 0; chunk < nchunks; ++chunk) {
        const std::size_t first = chunk * tuning::COPY_CHUNK;
        check(cudaMemcpyAsync(sums.host.data() + columns * first, sums.device.data() + columns * first,
                  columns * (chunk_end(chunk) - first) * sizeof(double), cudaMemcpyDeviceToHost, stream),
              "copying from it");
        arrived[chunk].record(stream);
      }
      if (!rows) return;
      for (std::size_t chunk = 0; chunk < nchunks; ++chunk) {
        check(cudaEventSynchronize(arrived[chunk]), "computing coordination numbers");
        const std::size_t first = chunk * tuning::COPY_CHUNK, end = chunk_end(chunk);
        if (columns == peratom_columns(DERIVATIVES))
          add_rows<peratom_columns(DERIVATIVES)>(sums.host.data(), rows, first, end, peratom);
        else
          add_rows<peratom_columns(ATOM_VIRIAL)>(sums.host.data(), rows, first, end, peratom);
      }
    }

    // adds the rows from begin to end of sums to these rows of peratom
    template <int COLUMNS>
    void add_rows(const double *sums, const int *rows, std::size_t begin, std::size_t end, double *peratom) const
    {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
      for (std::size_t k = begin; k < end; ++k)
        for (int c = 0; c < COLUMNS; ++c) peratom[COLUMNS * static_cast<std::size_t>(rows[k]) + c] += sums[COLUMNS * k + c];
    }

    const Switch function;
    const int nthreads;
    bool bins_always = false;
    CellsShape shape = {};
    FormulaConstants<Real> constants = {};
    Launchers<Real> launchers = {};

    Stream stream;
    Event copied, binned, paired, reduced;
    std::deque<Event> arrived;
    double start = 0.0;
    int columns = 0;    // of the per-atom sums of this evaluation; 0: not wanted

    DeviceBuffer<Instruction> instructions;
    Staged<DeviceAtom> atoms_a, atoms_b;
    DeviceBins bins_a, bins_b;
    Staged<double> positions, positions_b;
    Staged<unsigned char> members;
    FlatList list_a, list_b;
    Sums sums_a, sums_b;
    DeviceBuffer<int> counters;
    DeviceBuffer<WarpSums> totals;
    PinnedBuffer<WarpSums> totals_host;
    DeviceBuffer<char> workspace;
  };

  // Makes the GPU current for every call.
  class OnDevice : public Coordination {
   public:
    OnDevice(const Switch &function, Precision precision, int device_in, int nthreads, const CudaTuning &tuning) :
        device(device_in)
    {
      use_device(device);
      if (precision == Precision::DOUBLE)
        backend = std::make_unique<CudaCoordination<double>>(function, precision, nthreads, tuning);
      else
        backend = std::make_unique<CudaCoordination<float>>(function, precision, nthreads, tuning);
    }
    ~OnDevice() override
    {
      if (device >= 0) cudaSetDevice(device);    // may fail where the GPU is lost, and then so be it
      backend.reset();
    }
    Contribution cells(const CellsInput &in, unsigned want, double *peratom) override
    {
      use_device(device);
      return backend->cells(in, want, peratom);
    }
    Contribution list(const ListInput &in, unsigned want, double *peratom) override
    {
      use_device(device);
      return backend->list(in, want, peratom);
    }
    Contribution allpairs(const AllPairsInput &in, unsigned want, double *peratom) override
    {
      use_device(device);
      return backend->allpairs(in, want, peratom);
    }
    Contribution pairs(const PairsInput &in, unsigned want, double *peratom) override
    {
      use_device(device);
      return backend->pairs(in, want, peratom);
    }

   private:
    const int device;
    std::unique_ptr<Coordination> backend;
  };

}    // namespace

CudaDevices find_cuda_devices()
{
  CudaDevices found;
  const cudaError_t status = cudaGetDeviceCount(&found.count);
  if (status == cudaSuccess && found.count > 0) return found;
  cudaGetLastError();    // an error that was dealt with must not be found again
  found.count = 0;
  if (status == cudaErrorInsufficientDriver)
    found.why_none = "there is no CUDA driver, or one too old for this build";
  else if (status == cudaSuccess || status == cudaErrorNoDevice)
    found.why_none = "there is no GPU";
  else
    found.why_none = std::string("the CUDA driver says: ") + cudaGetErrorString(status);
  return found;
}

std::string cuda_device_name(int device)
{
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "asking for its name");
  return properties.name;
}

std::unique_ptr<Coordination> make_cuda_coordination(const Switch &function, Precision precision, int device,
                                                     int nthreads, const CudaTuning &tuning)
{
  return std::make_unique<OnDevice>(function, precision, device, nthreads, tuning);
}

std::unique_ptr<Coordination> make_cuda_coordination(const Switch &function, Precision precision, int device,
                                                     int nthreads)
{
  return make_cuda_coordination(function, precision, device, nthreads, CudaTuning());
}

}    // namespace gpucoord
