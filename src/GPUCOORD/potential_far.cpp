/* -----------------------------------------------------------------------
   LAMMPS - Large-scale Atomic/Molecular Massively Parallel Simulator
   https://www.lammps.org/, Sandia National Laboratories
   LAMMPS development team: developers@lammps.org

   This software is distributed under the GNU General Public License.

   See the README file in the top-level LAMMPS directory.
------------------------------------------------------------------------- */

/* ----------------------------------------------------------------------
   Contributing authors: The GPUCOORD developers
------------------------------------------------------------------------- */

#include "potential_far.h"

#include "gpucoord_backend.h"
#include "gpucoord_box_edges.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_lammps_compat.h"

#include "comm.h"
#include "domain.h"

#if defined(GPUCOORD_KSPACE)
#include "fft3d_wrap.h"
#endif

#include <algorithm>
#include <cmath>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::EwaldMesh;
using gpucoord::FarBox;
using gpucoord::FarFactors;
using gpucoord::MapCharges;
using gpucoord::MeshBrick;

// Changes of the box and of charges up to which mesh and alpha are kept. Errors change in
// proportion.
static constexpr double BOX_CHANGE = 0.01, CHARGE_CHANGE = 0.05;

// Limits of mesh points, per rank and per grid point. The limit per rank corresponds to some 10 GiB
// and 10 s for a map. Without it, cutoffs that are too short for their charges would need any
// number of points. A mesh may always have MAX_POINTS_PER_GRID_POINT points for each grid point.
static constexpr double MAX_POINTS_PER_RANK = 1 << 27, MAX_POINTS_PER_GRID_POINT = 8;

static constexpr double PI = 3.14159265358979323846;

/* ----------------------------------------------------------------------
   Fourier transform of a mesh. Each rank has the same brick before and after it.
------------------------------------------------------------------------- */

class PotentialFar::Transform {
 public:
#if defined(GPUCOORD_KSPACE)
  Transform(LAMMPS *lmp, MPI_Comm world, const MeshBrick &b) :
      n(static_cast<std::size_t>(b.n[0]) * b.n[1] * b.n[2])
  {
    int hi[3], nbuffer;
    for (int a = 0; a < 3; ++a) hi[a] = b.lo[a] + b.n[a] - 1;
    fft = LammpsCompat::make_transform<FFT3d>(lmp, world, b.mesh[0], b.mesh[1], b.mesh[2], b.lo[0],
                                              hi[0], b.lo[1], hi[1], b.lo[2], hi[2], b.lo[0], hi[0],
                                              b.lo[1], hi[1], b.lo[2], hi[2], 0, 0, &nbuffer);
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

  // factor(point, real, imaginary) modifies the spectrum.
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

  static constexpr bool exists()
  {
    return true;
  }
  static constexpr bool is_float()
  {
    return sizeof(FFT_SCALAR) == sizeof(float);
  }

 private:
  const std::size_t n;    // number of mesh points of this rank
  std::unique_ptr<FFT3d> fft;
  std::vector<FFT_SCALAR> work;
  std::vector<double> spectrum;
#else
  Transform(LAMMPS *, MPI_Comm, const MeshBrick &) {}
  void forward(const std::vector<double> &) {}
  template <class Factor> void backward(const Factor &, std::vector<double> &) {}
  static constexpr bool exists()
  {
    return false;
  }
  static constexpr bool is_float()
  {
    return false;
  }
#endif
};

/* ---------------------------------------------------------------------- */

PotentialFar::PotentialFar(LAMMPS *lmp, const DeviceChoice &choice, double cutoff_in,
                           double error_in, const int n[3], bool at_corners_in) :
    Pointers(lmp),
    on_gpu(choice.is_cuda() && comm->nprocs == 1 && gpucoord::has_cuda_far_field()),
    device(choice.device_number()), cutoff(cutoff_in), error_wanted(error_in),
    at_corners(at_corners_in)
{
  if (!on_gpu && !Transform::exists())
    throw std::runtime_error("far fft needs the Fourier transforms of LAMMPS' KSPACE package, "
                             "without which GPUCOORD was built - build LAMMPS with PKG_KSPACE=on "
                             "and without heFFTe, and then GPUCOORD, or use one rank with a GPU");
  constexpr double MIN_ERROR_OF_FLOAT = 1e-5;
  if (!on_gpu && Transform::is_float() && error_wanted < MIN_ERROR_OF_FLOAT)
    throw std::runtime_error("far fft needs a tolerance >= 1e-5 with this LAMMPS, whose Fourier "
                             "transforms are in single precision (FFT_SINGLE)");
  for (int a = 0; a < 3; ++a) {
    points[a] = n[a];
    lo[a] = 0;
    hi[a] = -1;
    from[a] = to[a] = 0.0;
  }
}

PotentialFar::~PotentialFar() = default;

/* ---------------------------------------------------------------------- */

FarBox PotentialFar::box_now() const
{
  FarBox box;
  get_box_edges(domain, box.edge);
  std::copy_n(domain->boxlo, 3, box.origin);
  return box;
}

// Returns the index of the grid point among the mesh points of its cell: the middle one if grid
// points are at centers of cells.
int PotentialFar::offset_in_fold(int axis) const
{
  return at_corners ? 0 : fold(axis) / 2;
}

// Returns the first mesh point that belongs to the next rank, which is the first one at or above a
// fraction of the edge. The boundary lies between two grid points whose ranks are fixed. point:
// first grid point of the next rank
int PotentialFar::first_beyond(int axis, double fraction, int point) const
{
  const double center_offset = at_corners ? 0.0 : 0.5 * fold(axis);
  const int first = static_cast<int>(std::ceil(fraction * the_mesh.n[axis] - center_offset)) +
      offset_in_fold(axis);
  const int grid_point = fold(axis) * point + offset_in_fold(axis);
  return std::clamp(std::clamp(first, grid_point - fold(axis) + 1, grid_point), 0,
                    the_mesh.n[axis]);
}

MeshBrick PotentialFar::brick() const
{
  MeshBrick b;
  b.box = box_now();
  for (int a = 0; a < 3; ++a) {
    b.mesh[a] = the_mesh.n[a];
    b.lo[a] = first_beyond(a, from[a], lo[a]);
    b.n[a] = first_beyond(a, to[a], hi[a] + 1) - b.lo[a];
    const double first_offset = at_corners
        ? 0.0
        : 0.5 * fold(a) - offset_in_fold(a);    // from the edge of the box, in mesh spacings
    for (int c = 0; c < 3; ++c) b.box.origin[c] += first_offset * b.box.edge[a][c] / the_mesh.n[a];
  }
  return b;
}

double PotentialFar::bytes(bool with_field) const
{
  // Bytes per mesh point: its value, factor, spectrum and two copies for transforms; the wave
  // vectors of the field; and LAMMPS' send buffers for transforms, as measured.
  constexpr double BYTES_PER_POINT = 64.0, BYTES_OF_FIELD = 24.0, BYTES_TO_SEND = 26.0;
  if (the_mesh.n[0] == 0 || on_gpu) return 0.0;
  const MeshBrick mine = brick();
  return static_cast<double>(mine.n[0]) * mine.n[1] * mine.n[2] *
      (BYTES_PER_POINT + (with_field ? BYTES_OF_FIELD : 0.0) +
       (comm->nprocs > 1 ? BYTES_TO_SEND : 0.0));
}

double PotentialFar::memory_usage(bool with_field) const
{
  return bytes(with_field) + (gpu_field ? static_cast<double>(gpu_field->bytes()) : 0.0);
}

bool PotentialFar::prepare(double sum_q_sq, double sum_q)
{
  charge = sum_q;
  const FarBox box = box_now();
  bool has_changed = std::fabs(sum_q_sq - chosen_sum_q_sq) > CHARGE_CHANGE * chosen_sum_q_sq ||
      reach() > cutoff;
  for (int a = 0; a < 3; ++a)
    for (int c = 0; c < 3; ++c)
      has_changed = has_changed ||
          std::fabs(box.edge[a][c] - chosen_box.edge[a][c]) > BOX_CHANGE * box.edge[a][a];
  if (!has_changed) return false;

  choose(box, sum_q_sq);
  chosen_box = box;
  chosen_sum_q_sq = sum_q_sq;
  transform.reset();
  return true;
}

// Rank 0 selects the mesh. Different rounding on ranks of other machines might lead to another
// mesh.
void PotentialFar::choose(const FarBox &box, double sum_q_sq)
{
  struct {
    double alpha = 0.0;
    gpucoord::FarMesh mesh = {};
  } chosen;
  std::string failure;
  if (comm->me == 0) {
    // Near and far field each have half of the variance.
    const double half = error_wanted / std::sqrt(2.0);
    constexpr double AT_ATOMS =
        3.0;    // at atoms, the mesh error enters twice, and the self-interaction adds to it
    try {
      chosen.alpha = gpucoord::near_alpha(cutoff, sum_q_sq, box.volume(), half);
      // Charges are only known up to the cutoff, and the box may grow.
      const double widest = cutoff / (0.5 * gpucoord::FAR_ORDER * (1.0 + 2.0 * BOX_CHANGE));
      const double grid_points = MAX_POINTS_PER_GRID_POINT * points[0] * points[1] * points[2];
      const int max_points = static_cast<int>(
          std::min<double>(MAXSMALLINT, std::max(MAX_POINTS_PER_RANK * comm->nprocs, grid_points)));
      chosen.mesh = gpucoord::choose_far_mesh(box, points, chosen.alpha, sum_q_sq, half / AT_ATOMS,
                                              widest, max_points);
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

void PotentialFar::set_points(const int *lo_in, const int *hi_in, const double *from_in,
                              const double *to_in)
{
  std::copy_n(lo_in, 3, lo);
  std::copy_n(hi_in, 3, hi);
  std::copy_n(from_in, 3, from);
  std::copy_n(to_in, 3, to);
  transform.reset();
}

// Returns the largest distance over which a charge is spread.
double PotentialFar::reach() const
{
  const FarBox box = box_now();
  double maximum = 0.0;
  for (int a = 0; a < 3; ++a)
    maximum = std::max(maximum, 0.5 * gpucoord::FAR_ORDER * box.height(a) / the_mesh.n[a]);
  return maximum;
}

double PotentialFar::background() const
{
  return charge * gpucoord::near_background(cutoff, the_alpha) / box_now().volume();
}

double PotentialFar::self_potential() const
{
  return 2.0 * the_alpha / std::sqrt(PI);
}

/* ---------------------------------------------------------------------- */

// A failure discards the GPU's far field. The next evaluation makes a new one.
template <class Use> void PotentialFar::by_gpu(const Use &use)
{
  try {
    if (!gpu_field) gpu_field = gpucoord::make_cuda_far_field(device);
    gpucoord::EwaldMesh mesh;
    mesh.box = brick().box;
    std::copy_n(the_mesh.n, 3, mesh.n);
    mesh.alpha = the_alpha;
    use(mesh);
  } catch (const gpucoord::DeviceError &) {
    gpu_field.reset();
    throw;
  }
}

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
  if (on_gpu) {
    int folds[3], first[3];
    for (int a = 0; a < 3; ++a) {
      folds[a] = fold(a);
      first[a] = offset_in_fold(a);
    }
    by_gpu([&](const EwaldMesh &mesh) {
      gpu_field->on_grid(mesh, folds, first, charges, comm->nthreads,
                         {phi, with_field ? field : nullptr});
    });
    return;
  }
  const MeshBrick mine = spread(charges);
  std::vector<double> wave_factor(values.size()), waves(with_field ? 3 * values.size() : 0);
  for_each_wave(mine, the_alpha, [&](std::size_t p, const double *wave, double factor, double) {
    wave_factor[p] = factor;
    if (with_field) std::copy_n(wave, 3, &waves[3 * p]);
  });
  const auto on_mesh = [&](int a, int point) {
    return fold(a) * point + offset_in_fold(a) - mine.lo[a];
  };
  const auto sample = [&](double *out, int stride) {
    for (int k = lo[2]; k <= hi[2]; ++k)
      for (int j = lo[1]; j <= hi[1]; ++j)
        for (int i = lo[0]; i <= hi[0]; ++i, out += stride) {
          const std::size_t row =
              static_cast<std::size_t>(on_mesh(2, k)) * mine.n[1] + on_mesh(1, j);
          *out = values[row * mine.n[0] + on_mesh(0, i)];
        }
  };
  transform->backward(
      [&](std::size_t p, double &re, double &im) {
        re *= wave_factor[p];
        im *= wave_factor[p];
      },
      values);
  sample(phi, 1);
  for (int c = 0; c < 3 && with_field; ++c) {    // - d phi/dx is a product with - i k
    transform->backward(
        [&](std::size_t p, double &re, double &im) {
          const double k = waves[3 * p + c] * wave_factor[p], was = re;
          re = k * im;
          im = -k * was;
        },
        values);
    if (field) sample(field + c, 3);
  }
}

void PotentialFar::at_positions(const MapCharges &charges, const double *x, int n, double *phi)
{
  if (on_gpu) {
    by_gpu([&](const EwaldMesh &mesh) {
      gpu_field->at_positions(mesh, charges, x, n, comm->nthreads, phi);
    });
    return;
  }
  const MeshBrick mine = spread(charges);
  std::vector<double> wave_factor(values.size());
  for_each_wave(mine, the_alpha, [&](std::size_t p, const double *, double factor, double spline) {
    wave_factor[p] = factor * spline;
  });
  transform->backward(
      [&](std::size_t p, double &re, double &im) {
        re *= wave_factor[p];
        im *= wave_factor[p];
      },
      values);
  gpucoord::interpolate_mesh(mine, values.data(), x, n, comm->nthreads, phi);
}
