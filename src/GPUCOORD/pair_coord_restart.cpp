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

#include "pair_coord.h"

#include "coord_switch.h"
#include "gpucoord_backend.h"
#include "gpucoord_restart_io.h"

#include "atom.h"
#include "error.h"

using namespace LAMMPS_NS;

// Version of the format of restart files.
static constexpr int FORMAT = 2;

/* ----------------------------------------------------------------------
   coefficients in data and restart files
------------------------------------------------------------------------- */

// Returns the words after the types in pair_coeff.
std::string PairCoord::coefficients_in_words(int i, int j)
{
  const auto &options = coefficients_at(i, j).options;
  const std::string words = CoordSwitch::words(options);
  return options ? fmt::format("{} {}", epsilon[i][j], words) : words;
}

void PairCoord::write_data(FILE *fp)
{
  for (int i = 1; i <= ntypes; ++i) utils::print(fp, "{} {}\n", i, coefficients_in_words(i, i));
}

void PairCoord::write_data_all(FILE *fp)
{
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j)
      utils::print(fp, "{} {} {}\n", i, j, coefficients_in_words(i, j));
}

/* ---------------------------------------------------------------------- */

void PairCoord::write_restart(FILE *fp)
{
  write_restart_settings(fp);
  RestartWriter out(fp);
  for (int i = 1; i <= atom->ntypes; ++i)
    for (int j = i; j <= atom->ntypes; ++j) {
      const int is_set = allocated ? setflag[i][j] : 0;
      out.write(is_set);
      if (!is_set) continue;
      out.write(epsilon[i][j]);
      CoordSwitch::write_restart(out, coefficients_at(i, j).options);
    }
}

void PairCoord::read_restart(FILE *fp)
{
  read_restart_settings(fp);
  allocate();
  RestartReader in(lmp, fp, "Pair coord");
  for (int i = 1; i <= ntypes; ++i)
    for (int j = i; j <= ntypes; ++j) {
      setflag[i][j] = in.read<int>();
      if (!setflag[i][j]) continue;
      epsilon[i][j] = in.read<double>();
      const auto options = CoordSwitch(lmp, "Pair coord", "").read_restart(in);
      if (options) try {
          const gpucoord::Switch checked(*options);
        } catch (const gpucoord::SwitchError &e) {
          error->all(FLERR, Error::NOLASTLINE,
                     "Pair coord: the restart file has the function '{}' of types {} and {}: {} - "
                     "the file is damaged",
                     CoordSwitch::words(options), i, j, e.what());
        }
      coefficients_at(i, j).options = options;
    }
}

void PairCoord::write_restart_settings(FILE *fp)
{
  const int words[5] = {static_cast<int>(wanted_engine), static_cast<int>(precision),
                        static_cast<int>(device), offset_flag, mix_flag};
  RestartWriter out(fp);
  out.write_format(FORMAT);
  out.write(words, 5);
}

void PairCoord::read_restart_settings(FILE *fp)
{
  RestartReader in(lmp, fp, "Pair coord");
  in.read_format(FORMAT);
  wanted_engine = in.enumerator(Engine::NEIGH);
  precision = in.enumerator(gpucoord::Precision::SINGLE);
  device = in.enumerator(Parse::Device::HOST);
  offset_flag = in.read<int>();
  mix_flag = in.read<int>();
  make_backends(DeviceChoice::restarted(lmp, device, "Pair coord"), "Pair coord",
                Error::NOLASTLINE);
}
