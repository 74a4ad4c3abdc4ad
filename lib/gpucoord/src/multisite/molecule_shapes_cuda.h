// Part of GPUCOORD, GPL-2.0. Combinations of sites with specialized kernels, for common models. The
// build compiles molecule_kernels.cu once for each name.

#ifndef GPUCOORD_MOLECULE_SHAPES_CUDA_H
#define GPUCOORD_MOLECULE_SHAPES_CUDA_H

namespace gpucoord {

template <int CENTERS, int CHARGES, int DIPOLES, int QUADRUPOLES> struct FixedSites {
  static constexpr bool FIXED = true;
  static constexpr int NCENTERS = CENTERS, NCHARGES = CHARGES, NDIPOLES = DIPOLES,
                       NQUADRUPOLES = QUADRUPOLES;
};

namespace sites {

  struct Any {    // numbers of sites are known at run time
    static constexpr bool FIXED = false;
    static constexpr int NCENTERS = -1, NCHARGES = -1, NDIPOLES = -1, NQUADRUPOLES = -1;
  };
  using Center = FixedSites<1, 0, 0, 0>;
  using TwoCenters = FixedSites<2, 0, 0, 0>;                // ethane
  using TwoCentersQuadrupole = FixedSites<2, 0, 0, 1>;      // nitrogen and other 2CLJQ fluids
  using ThreeCentersQuadrupole = FixedSites<3, 0, 0, 1>;    // carbon dioxide
  using ThreeCentersCharges = FixedSites<3, 3, 0, 0>;       // carbon dioxide with charges
  using ThreeCentersDipole = FixedSites<3, 0, 1, 0>;        // ethylene oxide
  using CenterThreeCharges = FixedSites<1, 3, 0, 0>;        // water

}    // namespace sites
}    // namespace gpucoord

#endif
