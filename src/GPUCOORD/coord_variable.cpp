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

#include "coord_variable.h"

#include "bias_board.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "memory.h"
#include "update.h"

#include <algorithm>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

// Returns the name of a style without the suffix of its variant for KOKKOS. In coord/gpu, /gpu is
// no suffix.
static std::string without_kokkos(const std::string &style)
{
  return style.substr(0, style.find("/kk"));
}

CoordVariable::CoordVariable(LAMMPS *lmp, int narg, char **arg) :
    Compute(lmp, narg, arg), name(fmt::format("Compute {} {}", without_kokkos(style), id)),
    wanted(0), state(State::UNKNOWN), known_value(0.0), must_print_value(false), is_in_setup(false),
    ghosts(lmp, this), nmax(0)
{
}

// Thermodynamic output must not divide S by the number of atoms, whatever thermo_modify norm is.
void CoordVariable::set_outputs(int vector_size, int array_columns)
{
  scalar_flag = 1;
  extscalar = 0;
  vector_flag = 1;
  extvector = 0;
  size_vector = vector_size;
  delete[] vector;
  vector = new double[size_vector];
  peratom_flag = 1;
  size_peratom_cols = array_columns;
}

void CoordVariable::set_outputs_of_values(int nvalues)
{
  if (nvalues == 1) {    // like all variables with one value: the scalar, and a vector of W
    set_outputs(6, 3);
    return;
  }
  set_outputs(nvalues, 3 * nvalues);
  scalar_flag = 0;
  array_flag = 1;
  extarray = 0;
  size_array_rows = nvalues;
  size_array_cols = 7;
  memory->destroy(array);
  memory->create(array, size_array_rows, size_array_cols, "coord:array");
}

CoordVariable::~CoordVariable()
{
  delete[] vector;
  memory->destroy(array);
  memory->destroy(array_atom);
}

void CoordVariable::need_init() const
{
  if (!is_initialized())
    error->all(FLERR, Error::NOLASTLINE, "{} is used before a run has set it up - use run 0 first",
               name);
}

void CoordVariable::init()
{
  wanted = 0;
  state = State::UNKNOWN;
  is_in_setup = false;    // remains true if an error ends setup()
}

/* ---------------------------------------------------------------------- */

bool CoordVariable::begin_setup()
{
  is_in_setup = true;
  return true;
}

void CoordVariable::end_setup()
{
  is_in_setup = false;
  state = State::UNKNOWN;
}

void CoordVariable::announce(unsigned want)
{
  wanted = want;
  state = State::UNKNOWN;
}

/* ---------------------------------------------------------------------- */

double CoordVariable::compute_scalar()
{
  invoked_scalar = update->ntimestep;
  scalar = evaluate_now(gpucoord::VALUE);
  return scalar;
}

void CoordVariable::compute_vector()
{
  invoked_vector = update->ntimestep;
  evaluate_now(size() == 1 ? gpucoord::VIRIAL : gpucoord::VALUE);
  if (size() == 1) {
    std::fill_n(vector, size_vector, 0.0);
    add_virial({}, vector);
  } else
    for (int k = 0; k < size(); ++k) vector[k] = value(k);
}

void CoordVariable::compute_array()
{
  invoked_array = update->ntimestep;
  evaluate_now(gpucoord::VIRIAL);
  for (int k = 0; k < size(); ++k) {
    array[k][0] = value(k);
    std::fill_n(array[k] + 1, 6, 0.0);
    gpucoord::ItemFactors one;
    one.item = &k;
    add_virial(one, array[k] + 1);
  }
}

void CoordVariable::compute_peratom()
{
  begin_peratom();
  evaluate_now(gpucoord::DERIVATIVES);
  reserve_array();
  for (int i = 0; i < atom->nlocal; ++i) std::fill_n(array_atom[i], size_peratom_cols, 0.0);
  for (int k = 0; k < size(); ++k) {
    gpucoord::ItemFactors one;
    one.item = &k;
    add_gradients(one, array_atom, 3 * k);
  }
}

void CoordVariable::begin_peratom()
{
  invoked_peratom = update->ntimestep;
  triclinic_warning.warn(lmp, name);
}

double CoordVariable::evaluate_now(unsigned want)
{
  need_init();
  BiasBoard::get(lmp)->evaluate_now(this, want);
  return value();
}

void CoordVariable::reserve_array()
{
  if (atom->nmax <= nmax) return;
  memory->destroy(array_atom);
  nmax = atom->nmax;
  memory->create(array_atom, nmax, size_peratom_cols, "coord:array_atom");
}

int CoordVariable::pack_forward_comm(int n, int *atoms, double *buf, int /*pbc_flag*/,
                                     int * /*pbc*/)
{
  return ghosts.pack(n, atoms, buf);
}

void CoordVariable::unpack_forward_comm(int n, int first, double *buf)
{
  ghosts.unpack(n, first, buf);
}

double CoordVariable::memory_usage()
{
  // The array with pointers to its rows
  return static_cast<double>(nmax) * (size_peratom_cols * sizeof(double) + sizeof(double *)) +
      ghosts.memory_usage();
}

/* ---------------------------------------------------------------------- */

void CoordVariable::print_once(const std::string &text, const std::string &groups)
{
  if (is_part) return;
  if (text != printed && comm->me == 0) utils::logmesg(lmp, text);
  int changes = text != printed || groups != printed_groups ? 1 : 0;
  MPI_Bcast(&changes, 1, MPI_INT, 0, world);    // texts may differ between ranks
  if (changes) must_print_value = true;
  printed = text;
  printed_groups = groups;
}
