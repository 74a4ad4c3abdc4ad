// Part of GPUCOORD, GPL-2.0. Replaces the CUDA backend in a plugin for test_fake_gpu.py: the host
// computes, with the GPUs and failures that the environment defines. The behavior of LAMMPS' ranks
// can then be tested without a GPU.
//   FAKE_GPUS=1,0     GPUs of rank 0, of rank 1 and all others; the same form below
//   FAKE_INIT=0,1     not 0: the backend cannot be made
//   FAKE_FAILS=0,2    number of the evaluation that fails, from 1; 0: no failure
//   FAKE_NO_MEMORY=1  not 0: it fails with std::bad_alloc
//   FAKE_GRADIENT=1   not 0: dS/dx of one atom is wrong by 0.01; S, s_i and W are right
//   FAKE_FAR=1        not 0: GPUs compute far fields, and each evaluation fails;
//                     0: LAMMPS' transforms compute them

#include "gpucoord_order_parameters.h"

#include "gpucoord/coordination.h"
#include "gpucoord/map_far.h"
#include "gpucoord/multisite.h"
#include "gpucoord/potential_map.h"

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace gpucoord {

namespace {

  int value_on_rank(const char *variable)
  {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const char *const text = getenv(variable);
    std::istringstream values(text ? text : "0");
    std::string value;
    for (int r = 0; r <= rank && std::getline(values, value, ','); ++r) {}
    return std::stoi(value);
  }

  struct Evaluations {
    int done = 0;

    void count()
    {
      if (++done != value_on_rank("FAKE_FAILS")) return;
      if (value_on_rank("FAKE_NO_MEMORY")) throw std::bad_alloc();
      throw DeviceError("{fake} out of memory: 3 GB asked, 1 GB free");
    }
  };

  constexpr std::size_t MEMORY = 3000000000;    // of each backend, for memory_usage()

  class FakeCoordination : public Coordination {
   public:
    explicit FakeCoordination(std::unique_ptr<Coordination> host_in) : host(std::move(host_in)) {}
    std::size_t bytes() const override { return host->bytes() + MEMORY; }

    Contribution cells(const CellsInput &in, unsigned want, double *peratom) override
    {
      evaluations.count();
      const Contribution found = host->cells(in, want, peratom);
      if (in.a.nowned) spoil(in.a.index[0], want, peratom);
      return found;
    }
    Contribution list(const ListInput &in, unsigned want, double *peratom) override
    {
      evaluations.count();
      compare(in);
      const Contribution found = host->list(in, want, peratom);
      if (in.a.nowned) spoil(in.a.index[0], want, peratom);
      return found;
    }
    Contribution allpairs(const AllPairsInput &in, unsigned want, double *peratom) override
    {
      evaluations.count();
      const Contribution found = host->allpairs(in, want, peratom);
      if (in.a.nowned) spoil(in.a.row[0], want, peratom);
      return found;
    }
    Contribution pairs(const PairsInput &in, unsigned want, double *peratom) override
    {
      evaluations.count();
      const Contribution found = host->pairs(in, want, peratom);
      const int *const row = std::find_if(in.row_a, in.row_a + in.n, [](int r) {
        return r >= 0;
      });
      if (row != in.row_a + in.n) spoil(*row, want, peratom);
      return found;
    }

   private:
    static void spoil(int row, unsigned want, double *peratom)
    {
      if (want & DERIVATIVES && value_on_rank("FAKE_GRADIENT"))
        peratom[peratom_columns(want) * static_cast<std::size_t>(row) + 1] += 0.01;
    }

    // Lists of the same version must equal the copy.
    void compare(const ListInput &in)
    {
      if (in.version == 0 || in.version != version) {
        version = in.version;
        copy.clear();
        fprintf(stderr, "fake GPU: neighbor list copied\n");
      }
      for (const AtomList *group : {&in.a, &in.b})
        for (int k = 0; group->index && k < group->nowned; ++k) {
          const int i = group->index[k];
          std::vector<int> now(in.firstneigh[i], in.firstneigh[i] + in.numneigh[i]);
          for (int &j : now) j &= in.neighmask;
          if (copy.emplace(i, now).first->second != now)
            throw DeviceError("{fake} the neighbor list is not that of its version");
        }
    }

    std::unique_ptr<Coordination> host;
    Evaluations evaluations;
    std::int64_t version = 0;
    std::map<int, std::vector<int>> copy;    // by row
  };

  class FakeMultisite : public Multisite {
   public:
    explicit FakeMultisite(std::unique_ptr<Multisite> host_in) : host(std::move(host_in)) {}
    std::size_t bytes() const override { return host->bytes() + MEMORY; }

    MultisiteSums evaluate(const Molecules &in, MultisiteWant want,
                           const MultisiteResults &out) override
    {
      evaluations.count();
      return host->evaluate(in, want, out);
    }

   private:
    std::unique_ptr<Multisite> host;
    Evaluations evaluations;
  };

  class FakeOrder : public OrderParameter {
   public:
    explicit FakeOrder(std::unique_ptr<OrderParameter> host_in) : host(std::move(host_in)) {}

    OrderResult evaluate(const OrderInput &in, unsigned want, double *peratom,
                         const OrderNumbers &numbers) override
    {
      evaluations.count();
      return host->evaluate(in, want, peratom, numbers);
    }
    void complete_exchanges(const OrderInput &in, unsigned want) override
    {
      host->complete_exchanges(in, want);
    }
    int exchange_columns() const override { return host->exchange_columns(); }
    std::size_t bytes() const override { return host->bytes() + MEMORY; }
    std::vector<double> global_vector() const override { return host->global_vector(); }

   private:
    const std::unique_ptr<OrderParameter> host;
    Evaluations evaluations;
  };

  class FakeMap : public PotentialMap {
   public:
    explicit FakeMap(std::unique_ptr<PotentialMap> host_in) : host(std::move(host_in)) {}
    std::size_t bytes() const override { return host->bytes() + MEMORY; }

    void on_grid(const MapGrid &grid, const MapCharges &charges, const MapResults &out) override
    {
      evaluations.count();
      host->on_grid(grid, charges, out);
    }
    void at_points(const MapPoints &points, const MapCharges &charges,
                   const MapResults &out) override
    {
      evaluations.count();
      host->at_points(points, charges, out);
    }
    double tested() const override { return host->tested(); }
    MapOverflow overflow() const override { return host->overflow(); }

   private:
    std::unique_ptr<PotentialMap> host;
    Evaluations evaluations;
  };

  class FakeFar : public FarField {
   public:
    std::size_t bytes() const override { return MEMORY; }
    void on_grid(const EwaldMesh &, const int *, const int *, const MapCharges &, int,
                 const MapResults &) override
    {
      fail();
    }
    void at_positions(const EwaldMesh &, const MapCharges &, const double *, int, int,
                      double *) override
    {
      fail();
    }

   private:
    [[noreturn]] static void fail() { throw DeviceError("{fake} no transforms"); }
  };

  void start(int device)
  {
    fprintf(stderr, "fake GPU: device %d\n", device);
    if (value_on_rank("FAKE_INIT")) throw DeviceError("{fake} busy");
  }

}    // namespace

CudaDevices find_cuda_devices()
{
  const int count = value_on_rank("FAKE_GPUS");
  return {count, count ? "" : "{fake} none"};
}

std::string cuda_device_name(int)
{
  return "Fake";
}

std::unique_ptr<Coordination> make_cuda_coordination(const SwitchTable &table, Precision precision,
                                                     int device, int nthreads)
{
  start(device);
  return std::make_unique<FakeCoordination>(make_host_coordination(table, precision, nthreads));
}

std::unique_ptr<Multisite> make_cuda_multisite(const MultisiteModel &model, Precision precision,
                                               int device, int nthreads)
{
  start(device);
  return std::make_unique<FakeMultisite>(make_host_multisite(model, precision, nthreads));
}

#define GPUCOORD_ORDER_PARAMETER(FOLDER, NAME, STYLE, TEXT, EXAMPLE, OPTIONS)                  \
  std::unique_ptr<OrderParameter> make_cuda_order(const OPTIONS &options, Precision precision, \
                                                  int device, int nthreads)                    \
  {                                                                                            \
    start(device);                                                                             \
    return std::make_unique<FakeOrder>(make_host_order(options, precision, nthreads));         \
  }
#include "gpucoord/order_parameters.def"

std::unique_ptr<PotentialMap> make_cuda_potential_map(const MapOptions &options,
                                                      Precision precision, int device, int nthreads,
                                                      const MapBins &bins)
{
  start(device);
  return std::make_unique<FakeMap>(make_host_potential_map(options, precision, nthreads, bins));
}

std::unique_ptr<FarField> make_cuda_far_field(int device)
{
  start(device);
  return std::make_unique<FakeFar>();
}

bool has_cuda_far_field()
{
  return value_on_rank("FAKE_FAR");
}

}    // namespace gpucoord
