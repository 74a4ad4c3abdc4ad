/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

#include "potential_far.h"

#include "box_edges.h"
#include "broadcast_text.h"

#include "comm.h"
#include "domain.h"

#if defined(GPUCOORD_KSPACE)
#include "fft3d_wrap.h"
#endif

#include <algorithm>
#include <cmath>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::FarBox;
using gpucoord::FarFactors;
using gpucoord::MapCharges;
using gpucoord::MeshBrick;

// Changes of the box and of charges for which the same mesh and alpha will do: errors go with them.
static constexpr double BOX_CHANGE = 0.01, CHARGE_CHANGE = 0.05;

static constexpr double PI = 3.14159265358979323846;

/* ----------------------------------------------------------------------
   Of a mesh of which each rank has the same brick before and after
------------------------------------------------------------------------- */

class PotentialFar::Transform {
 public:
#if defined(GPUCOORD_KSPACE)
  Transform(LAMMPS *lmp, MPI_Comm world, const MeshBrick &b) : n(static_cast<std::size_t>(b.n[0]) * b.n[1] * b.n[2])
  {
    int hi[3], nbuffer;
    for (int a = 0; a < 3; ++a) hi[a] = b.lo[a] + b.n[a] - 1;
    fft = std::make_unique<FFT3d>(lmp, world, b.mesh[0], b.mesh[1], b.mesh[2], b.lo[0], hi[0], b.lo[1], hi[1], b.lo[2], hi[2], b.lo[0],
                                  hi[0], b.lo[1], hi[1], b.lo[2], hi[2], 0, 0, &nbuffer, 0, 0);
    work.resize(2 * n + 2);
    spectrum.resize(2 * n);
  }

  void forward(const std::vector<double> &density)
  {
    for (std::size_t p = 0; p < n; ++p) {
      work[2 * p] = static_cast<FFT_SCALAR>(density[p]);
      work[2 * p + 1] = 0;
    }
    fft->compute(work.data(), work.data(), FFT3d::FORWARD);
    std::copy_n(work.begin(), 2 * n, spectrum.begin());
  }

  // factor(point, real, imaginary): of the spectrum, changed
  template <class Factor> void backward(const Factor &factor, std::vector<double> &potential)
  {
    for (std::size_t p = 0; p < n; ++p) {
      double re = spectrum[2 * p], im = spectrum[2 * p + 1];
      factor(p, re, im);
      work[2 * p] = static_cast<FFT_SCALAR>(re);
      work[2 * p + 1] = static_cast<FFT_SCALAR>(im);
    }
    fft->compute(work.data(), work.data(), FFT3d::BACKWARD);
    for (std::size_t p = 0; p < n; ++p) potential[p] = work[2 * p];
  }

  static constexpr bool is_there() { return true; }
  static constexpr bool is_float() { return sizeof(FFT_SCALAR) == sizeof(float); }

 private:
  const std::size_t n;    // mesh points of this rank
  std::unique_ptr<FFT3d> fft;
  std::vector<FFT_SCALAR> work;
  std::vector<double> spectrum;
#else
  Transform(LAMMPS *, MPI_Comm, const MeshBrick &) {}
  void forward(const std::vector<double> &) {}
  template <class Factor> void backward(const Factor &, std::vector<double> &) {}
  static constexpr bool is_there() { return false; }
  static constexpr bool is_float() { return false; }
#endif
};

/* ---------------------------------------------------------------------- */

PotentialFar::PotentialFar(LAMMPS *lmp, double cutoff_in, double error_in, const int n[3], bool at_corners_in) :
    Pointers(lmp), cutoff(cutoff_in), error_wanted(error_in), at_corners(at_corners_in)
{
  if (!Transform::is_there())
    throw std::runtime_error("far fft needs the Fourier transforms of LAMMPS' KSPACE package, which GPUCOORD was built without - build "
                             "LAMMPS with PKG_KSPACE=on and without heFFTe, and then GPUCOORD");
  constexpr double LEAST_OF_FLOAT = 1e-5;
  if (Transform::is_float() && error_wanted < LEAST_OF_FLOAT)
    throw std::runtime_error("far fft has a tolerance of 1e-5 at least with this LAMMPS, of which Fourier transforms are in single "
                             "precision (FFT_SINGLE)");
  for (int a = 0; a < 3; ++a) {
    points[a] = n[a];
    lo[a] = 0;
    hi[a] = -1;
  }
}

PotentialFar::~PotentialFar() = default;

/* ---------------------------------------------------------------------- */

FarBox PotentialFar::box_now() const
{
  FarBox box;
  get_box_edges(domain, box.edge);
  for (int c = 0; c < 3; ++c) {
    box.origin[c] = domain->boxlo[c];
    for (int a = 0; a < 3 && !at_corners; ++a) box.origin[c] += 0.5 * box.edge[a][c] / points[a];
  }
  return box;
}

MeshBrick PotentialFar::brick() const
{
  MeshBrick b;
  b.box = box_now();
  for (int a = 0; a < 3; ++a) {
    const int fold = the_mesh.n[a] / points[a];    // mesh points for a point of the grid
    b.mesh[a] = the_mesh.n[a];
    b.lo[a] = fold * lo[a];
    b.n[a] = std::max(0, fold * (hi[a] - lo[a] + 1));
  }
  return b;
}

bool PotentialFar::prepare(double sum_q_sq, double sum_q)
{
  charge = sum_q;
  const FarBox box = box_now();
  bool has_changed = std::fabs(sum_q_sq - chosen_sum_q_sq) > CHARGE_CHANGE * chosen_sum_q_sq;
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 3; ++c)
      has_changed = has_changed || std::fabs(box.edge[a][c] - chosen_box.edge[a][c]) > BOX_CHANGE * box.edge[a][a];
  if (!has_changed) return false;

  const double alpha_before = the_alpha;
  choose(box, sum_q_sq);
  chosen_box = box;
  chosen_sum_q_sq = sum_q_sq;
  transform.reset();
  return the_alpha != alpha_before;
}

// by rank 0: ranks on other machines might choose otherwise by rounding
void PotentialFar::choose(const FarBox &box, double sum_q_sq)
{
  struct {
    double alpha = 0.0;
    gpucoord::FarMesh mesh = {};
  } chosen;
  std::string failure;
  if (comm->me == 0) {
    const double half = error_wanted / std::sqrt(2.0);    // near and far
    constexpr double AT_ATOMS = 3.0;    // the error of the mesh comes twice there, and with it what a charge does to itself
    try {
      chosen.alpha = gpucoord::near_alpha(cutoff, sum_q_sq, box.volume(), half);
      chosen.mesh = gpucoord::choose_far_mesh(box, points, chosen.alpha, sum_q_sq, half / AT_ATOMS);
    } catch (const std::invalid_argument &e) {
      failure = e.what();
    }
  }
  broadcast_text(failure, 0, world);
  if (!failure.empty()) throw std::invalid_argument(failure);
  MPI_Bcast(&chosen, sizeof(chosen), MPI_BYTE, 0, world);
  the_alpha = chosen.alpha;
  the_mesh = chosen.mesh;
}

void PotentialFar::set_points(const int *lo_in, const int *hi_in)
{
  std::copy_n(lo_in, 3, lo);
  std::copy_n(hi_in, 3, hi);
  transform.reset();
}

double PotentialFar::reach() const
{
  const FarBox box = box_now();
  double reciprocal[3][3], most = 0.0;
  box.reciprocal(reciprocal);
  for (int a = 0; a < 3; ++a) {
    const double height = 1.0 / std::sqrt(reciprocal[a][0] * reciprocal[a][0] + reciprocal[a][1] * reciprocal[a][1] +
                                          reciprocal[a][2] * reciprocal[a][2]);
    most = std::max(most, 0.5 * gpucoord::FAR_ORDER * height / the_mesh.n[a]);
  }
  return most;
}

double PotentialFar::background() const
{
  return charge * gpucoord::near_background(cutoff, the_alpha) / box_now().volume();
}

double PotentialFar::of_itself() const
{
  return 2.0 * the_alpha / std::sqrt(PI);
}

/* ---------------------------------------------------------------------- */

MeshBrick PotentialFar::spread(const MapCharges &charges)
{
  const MeshBrick mine = brick();
  if (!transform) transform = std::make_unique<Transform>(lmp, world, mine);
  values.resize(static_cast<std::size_t>(mine.n[0]) * mine.n[1] * mine.n[2]);
  gpucoord::spread_charges(mine, charges, comm->nthreads, values.data());
  transform->forward(values);
  return mine;
}

// Calls use(point of this rank, wave vector, factor, factor of splines).
template <class Use> static void for_each_wave(const MeshBrick &b, double alpha, const Use &use)
{
  const FarFactors factors(b.box, b.mesh, alpha);
  std::size_t point = 0;
  for (int k = 0; k < b.n[2]; ++k)
    for (int j = 0; j < b.n[1]; ++j)
      for (int i = 0; i < b.n[0]; ++i) {
        const int index[3] = {b.lo[0] + i, b.lo[1] + j, b.lo[2] + k};
        double wave[3];
        const double factor = factors.at(index, wave);
        use(point++, wave, factor, factors.spline(index));
      }
}

void PotentialFar::on_grid(const MapCharges &charges, double *phi, bool with_field, double *field)
{
  const MeshBrick mine = spread(charges);
  std::vector<double> of_wave(values.size()), waves(with_field ? 3 * values.size() : 0);
  for_each_wave(mine, the_alpha, [&](std::size_t p, const double *wave, double factor, double) {
    of_wave[p] = factor;
    if (with_field) std::copy_n(wave, 3, &waves[3 * p]);
  });
  int fold[3], n[3];
  for (int a = 0; a < 3; ++a) {
    fold[a] = the_mesh.n[a] / points[a];
    n[a] = mine.n[a] / fold[a];
  }
  const auto take = [&](double *to, int stride) {
    for (int k = 0; k < n[2]; ++k)
      for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) {
          const std::size_t row = static_cast<std::size_t>(k * fold[2]) * mine.n[1] + j * fold[1];
          to[((static_cast<std::size_t>(k) * n[1] + j) * n[0] + i) * stride] = values[row * mine.n[0] + i * fold[0]];
        }
  };
  transform->backward([&](std::size_t p, double &re, double &im) {
    re *= of_wave[p];
    im *= of_wave[p];
  }, values);
  take(phi, 1);
  for (int c = 0; c < 3 && with_field; ++c) {    // - d phi/dx: times - i k
    transform->backward([&](std::size_t p, double &re, double &im) {
      const double k = waves[3 * p + c] * of_wave[p], was = re;
      re = k * im;
      im = -k * was;
    }, values);
    if (!values.empty()) take(field + c, 3);
  }
}

void PotentialFar::at_places(const MapCharges &charges, const double *x, int n, double *phi)
{
  const MeshBrick mine = spread(charges);
  std::vector<double> of_wave(values.size());
  for_each_wave(mine, the_alpha, [&](std::size_t p, const double *, double factor, double spline) { of_wave[p] = factor * spline; });
  transform->backward([&](std::size_t p, double &re, double &im) {
    re *= of_wave[p];
    im *= of_wave[p];
  }, values);
  gpucoord::interpolate_mesh(mine, values.data(), x, n, comm->nthreads, phi);
}
