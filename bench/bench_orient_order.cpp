// Part of GPUCOORD, GPL-2.0. Times one evaluation of order parameters q_l, with derivatives, of a
// face-centered cubic crystal of density 1 with displaced atoms, cubic from 1.2 to 1.5: 13 partners
// for each atom.
//
// Usage: bench_orient_order backend cells_per_edge order l precision threads repeats
// backend: host or resident; order: local, average, dot, connections or global. Prints the number
// of atoms, OrderTimes (order_timing.h), and bytes of an atom.

#include "order_timing.h"

#include "gpucoord/orient_order.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using gpucoord::OrderKind;

constexpr double DMAX = 1.5, SKIN = 0.3;    // LAMMPS' default skin

OrderKind kind_of(const char *name)
{
  const char *const names[] = {"local", "average", "dot", "connections", "global"};
  for (int k = 0; k < 5; ++k)
    if (!std::strcmp(name, names[k])) return static_cast<OrderKind>(k);
  std::fprintf(stderr, "no order %s\n", name);
  std::exit(1);
}

}    // namespace

int main(int argc, char **argv)
{
  if (argc != 8) {
    std::fprintf(stderr, "usage: %s backend cells_per_edge order l precision threads repeats\n",
                 argv[0]);
    return 1;
  }
  const PeriodicAtoms crystal =
      displaced_crystal(std::atoi(argv[2]), std::cbrt(4.0), 0.05, DMAX + SKIN);
  gpucoord::OrientOrderOptions options;
  options.order = kind_of(argv[3]);
  options.l = std::atoi(argv[4]);
  options.connection.r0 = 0.5;
  const auto precision = precision_of(argv[5]);
  const int threads = std::atoi(argv[6]), repeats = std::atoi(argv[7]);
  gpucoord::SwitchOptions cubic;
  cubic.kind = gpucoord::SwitchKind::CUBIC;
  cubic.d0 = 1.2;
  cubic.dmax = DMAX;
  options.table = gpucoord::Switch(cubic);
#ifdef GPUCOORD_HAS_CUDA
  if (!std::strcmp(argv[1], "resident")) {
    const auto order = make_resident_order(options, precision);
    print(crystal, time_resident(*order, options.function, precision, crystal, SKIN, repeats));
    return 0;
  }
#endif
  const auto order = make_host_order(options, precision, threads);
  print(crystal, time_on_host(*order, crystal, SKIN, threads, repeats));
  return 0;
}
