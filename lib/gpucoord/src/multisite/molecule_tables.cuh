// Part of GPUCOORD, GPL-2.0. Kernel tables of the sites of two components and the strengths of
// their pairs.

#ifndef GPUCOORD_MOLECULE_TABLES_CUH
#define GPUCOORD_MOLECULE_TABLES_CUH

#include "molecule_shapes_cuda.h"
#include "multisite_arguments_cuda.h"

#include <algorithm>

namespace gpucoord {

// Tables for fixed numbers of sites, the same for both components. The kernel gets the whole table
// as a parameter. With unrolled loops, its numbers become operands of instructions and need no
// loads.
template <class Real, class Sites> class MoleculeTables {
  static constexpr int N =
      Sites::NCENTERS + Sites::NCHARGES + Sites::NDIPOLES + Sites::NQUADRUPOLES;
  static constexpr int NAXES = Sites::NDIPOLES + Sites::NQUADRUPOLES,
                       NPAIRS = Sites::NCENTERS * Sites::NCENTERS;

 public:
  // Unroll factor of the loops over sites; greater than the number of sites.
  static constexpr int AT_ONCE = 16;
  struct Counts {
    static constexpr int ncenters = Sites::NCENTERS, ncharges = Sites::NCHARGES,
                         ndipoles = Sites::NDIPOLES, nquadrupoles = Sites::NQUADRUPOLES;
  };

  MoleculeTables(const TablesView<Real> &host, const TablesView<Real> &)
  {
    std::copy_n(host.i.site, N, sites_i);
    std::copy_n(host.j.site, N, sites_j);
    std::copy_n(host.i.axis, NAXES, axis_of_i);
    std::copy_n(host.j.axis, NAXES, axis_of_j);
    std::copy_n(host.centers, NPAIRS, center_pairs);
  }
  __device__ Counts i() const { return {}; }
  __device__ Counts j() const { return {}; }
  __device__ const Four<Real> &site_i(int k) const { return sites_i[k]; }
  __device__ const Four<Real> &site_j(int k) const { return sites_j[k]; }
  __device__ const Four<Real> &axis_i(int k) const { return axis_of_i[k]; }
  __device__ const Four<Real> &axis_j(int k) const { return axis_of_j[k]; }
  __device__ const Four<Real> &centers(int b, int a) const
  {
    return center_pairs[b * Sites::NCENTERS + a];
  }

 private:
  Four<Real> sites_i[N], sites_j[N];
  Four<Real> axis_of_i[NAXES > 0 ? NAXES : 1], axis_of_j[NAXES > 0 ? NAXES : 1];
  Four<Real> center_pairs[NPAIRS > 0 ? NPAIRS : 1];
};

// Tables for any number of sites, in device memory.
template <class Real> class MoleculeTables<Real, sites::Any> {
 public:
  static constexpr int AT_ONCE = 1;

  MoleculeTables(const TablesView<Real> &, const TablesView<Real> &device) : view(device) {}
  __device__ const SitesView<Real> &i() const { return view.i; }
  __device__ const SitesView<Real> &j() const { return view.j; }
  __device__ const Four<Real> &site_i(int k) const { return view.i.site[k]; }
  __device__ const Four<Real> &site_j(int k) const { return view.j.site[k]; }
  __device__ const Four<Real> &axis_i(int k) const { return view.i.axis[k]; }
  __device__ const Four<Real> &axis_j(int k) const { return view.j.axis[k]; }
  __device__ const Four<Real> &centers(int b, int a) const
  {
    return view.centers[b * view.i.ncenters + a];
  }

 private:
  TablesView<Real> view;
};

}    // namespace gpucoord

#endif
