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

#include "coord_ghost_numbers.h"

#include "gpucoord_lammps_compat.h"

#include "atom.h"
#include "comm.h"
#include "compute.h"

#include "gpucoord/resident_function.h"
#include "gpucoord/resident_numbers.h"

#include <algorithm>
#include <numeric>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

GhostNumbers::GhostNumbers(LAMMPS *lmp, Compute *compute_in) : Pointers(lmp), compute(compute_in) {}

// Finding owners takes one column.
void GhostNumbers::set_columns(int most)
{
  compute->comm_forward = MAX(1, most);
}

// Communication may include more atoms than there are now (delete_atoms before a run).
void GhostNumbers::reserve()
{
  const std::size_t size = compute->comm_forward * static_cast<std::size_t>(atom->nmax);
  if (numbers.size() < size) numbers.resize(size);
}

double *GhostNumbers::zeros()
{
  reserve();
  std::fill(numbers.begin(), numbers.end(), 0.0);
  return numbers.data();
}

/* ---------------------------------------------------------------------- */

void GhostNumbers::forward_columns(int columns_in)
{
  columns = columns_in;
  location = Location::HOST;
  comm->forward_comm(compute);
}

void GhostNumbers::forward(double *all, int columns_in)
{
  reserve();
  const std::size_t nlocal = atom->nlocal, nall = nlocal + atom->nghost;
  std::copy_n(all, columns_in * nlocal, numbers.data());
  forward_columns(columns_in);
  std::copy(numbers.data() + columns_in * nlocal, numbers.data() + columns_in * nall,
            all + columns_in * nlocal);
}

void GhostNumbers::forward_zeros(int columns_in)
{
  zeros();
  forward_columns(columns_in);
}

void GhostNumbers::forward(gpucoord::ResidentNumbers &in_device_memory,
                           gpucoord::DeviceStream stream_in)
{
  resident = &in_device_memory;
  stream = stream_in;
  columns = resident->exchange_columns();
  failed.clear();
  location = Location::DEVICE;
  LammpsCompat::communicate_on_device(compute, true);
  comm->forward_comm(compute);
  LammpsCompat::communicate_on_device(compute, false);
  const bool were_copied = location == Location::COPIED;
  location = Location::HOST;
  if (!failed.empty()) throw gpucoord::DeviceError(failed);
  if (were_copied) resident->set_numbers(numbers.data(), stream);
}

/* ---------------------------------------------------------------------- */

const int *GhostNumbers::owners(std::int64_t version)
{
  if (version == owners_version) return owner_of_atom.data();
  reserve();
  const std::size_t nlocal = atom->nlocal, nall = nlocal + atom->nghost;
  std::iota(numbers.begin(), numbers.begin() + nlocal, 0.0);
  forward_columns(1);
  owner_of_atom.assign(numbers.begin(), numbers.begin() + nall);
  owners_version = version;
  return owner_of_atom.data();
}

const int *GhostNumbers::owners(gpucoord::ResidentFunction &function, std::int64_t version,
                                gpucoord::DeviceStream stream_of_function)
{
  if (version != device_owners_version) {
    device_owners_version = 0;    // remains if an exception is thrown
    function.find_owners(
        [&] {
          forward(function, stream_of_function);
        },
        stream_of_function);
    device_owners_version = version;
  }
  return function.owners();
}

/* ----------------------------------------------------------------------
   Communication. An error of the GPU must not end it, because other ranks wait for this one.
------------------------------------------------------------------------- */

// Copies the numbers that this communication sends from the GPU to the host, once.
void GhostNumbers::copy_to_host()
{
  if (location != Location::DEVICE) return;
  reserve();
  location = Location::COPIED;
  try {
    resident->get_numbers(numbers.data(), stream);
  } catch (const gpucoord::DeviceError &e) {
    failed = e.what();
  }
}

int GhostNumbers::pack(int n, const int *atoms, double *buf)
{
  copy_to_host();
  const std::size_t ncolumns = columns;
  for (int k = 0; k < n; ++k)
    std::copy_n(numbers.data() + ncolumns * atoms[k], ncolumns, buf + ncolumns * k);
  return n * columns;
}

void GhostNumbers::unpack(int n, int first, const double *buf)
{
  copy_to_host();
  const std::size_t ncolumns = columns;
  std::copy_n(buf, ncolumns * n, numbers.data() + ncolumns * first);
}

int GhostNumbers::pack_on_device(int n, const int *list, double *buf)
{
  try {
    resident->pack(list, n, buf, stream);
  } catch (const gpucoord::DeviceError &e) {
    failed = e.what();
  }
  return n * columns;
}

void GhostNumbers::unpack_on_device(int n, int first, const double *buf)
{
  try {
    resident->unpack(buf, n, first, stream);
  } catch (const gpucoord::DeviceError &e) {
    failed = e.what();
  }
}

/* ---------------------------------------------------------------------- */

double GhostNumbers::memory_usage() const
{
  return static_cast<double>(numbers.capacity()) * sizeof(double) +
      static_cast<double>(owner_of_atom.capacity()) * sizeof(int);
}
