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

#include "gpucoord_physical_memory.h"

#include <limits>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <unistd.h>
#endif

/* ---------------------------------------------------------------------- */

double LAMMPS_NS::physical_memory()
{
#if defined(_WIN32)
  MEMORYSTATUSEX memory;
  memory.dwLength = sizeof(memory);
  if (GlobalMemoryStatusEx(&memory)) return static_cast<double>(memory.ullTotalPhys);
#elif defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
  if (pages > 0 && bytes > 0) return static_cast<double>(pages) * static_cast<double>(bytes);
#endif
  return std::numeric_limits<double>::infinity();
}
