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

#include "bias_enqueued.h"

#include "gpucoord_variable.h"

#include "error.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <set>

using namespace LAMMPS_NS;
using gpucoord::ResidentBias;

/* ---------------------------------------------------------------------- */

EnqueuedBias::EnqueuedBias(LAMMPS *lmp, std::string owner_in, gpucoord::Bias &bias_in,
                           const std::vector<VariableRef> &variables_in) :
    Pointers(lmp),
    owner(std::move(owner_in)), bias(bias_in), variables(variables_in)
{
}

// rerun calls this for each frame. If the last run ended in an error, the GPU may have failed.
void EnqueuedBias::begin_run()
{
  try {
    if (holder == Holder::DEVICE) set_state(resident->wait(stream));
  } catch (const gpucoord::DeviceError &) {
    resident.reset();
  }
  holder = Holder::HOST;
}

bool EnqueuedBias::can_evaluate(const gpucoord::Step &step) const
{
  return variables.size() <= ResidentBias::MAX_VARIABLES && !bias.needs_host(step);
}

// Errors of the GPU and of the bias end the run.
void EnqueuedBias::call(const std::function<void()> &work)
{
  try {
    work();
  } catch (const gpucoord::DeviceError &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: {} - use device host for its computes", owner,
               e.what());
  } catch (const std::exception &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, e.what());
  }
}

void EnqueuedBias::evaluate(const gpucoord::Step &step, double strength)
{
  State seen = {};
  call([&] {
    if (!resident) resident = gpucoord::make_resident_bias();
    if (holder != Holder::DEVICE) return;
    seen = resident->last_seen();
    // The GPU may be writing these values. wait() returns values of a single evaluation.
    if (seen.not_finite || seen.outside) seen = resident->wait(stream);
  });
  if (holder == Holder::DEVICE) raise_errors(seen);
  last_step = step;
  std::vector<gpucoord::DeviceValue> values;
  for (const VariableRef &variable : variables)
    values.push_back(variable.compute->enqueue().item(variable.item));
  call([&] {
    choose_stream();
    bias.on_device(step, terms);
    if (holder == Holder::HOST) {
      const gpucoord::BiasState &known = bias.state();
      State state = {};
      std::copy(known.s.begin(), known.s.end(), state.s);
      std::copy(known.dVdS.begin(), known.dVdS.end(), state.dVdS);
      state.energy = known.energy;
      state.work = known.work;
      state.bad_atom = -1;
      if (terms.has_averages())
        std::copy_n(known.own.begin() + terms.averages.first, 1 + 2 * known.s.size(),
                    state.averages);
      resident->set(state, stream);
    }
    resident->evaluate(values, terms, strength, stream);
    for (const VariableRef &variable : variables) variable.compute->join_stream();
  });
  holder = Holder::DEVICE;
}

// A bias whose variables are all evaluated beside the other forces is, too.
void EnqueuedBias::choose_stream()
{
  stream = variables[0].compute->own_stream();
  const bool is_common = std::all_of(variables.begin(), variables.end(), [this](const auto &one) {
    return one.compute->own_stream() == stream;
  });
  if (is_common) return;
  for (const VariableRef &variable : variables) variable.compute->join_stream();
  stream = variables[0].compute->stream();
}

void EnqueuedBias::add_forces(double strength)
{
  for_each_compute_on_device(
      variables, strength, resident->dVdS(0),
      [](CollectiveVariable *variable, const gpucoord::ItemFactors &factors) {
        variable->add_forces(factors);
      });
}

void EnqueuedBias::wait()
{
  if (holder != Holder::DEVICE) return;
  State state = {};
  call([&] {
    state = resident->wait(stream);
  });
  holder = Holder::BOTH;
  set_state(state);
  raise_errors(state);
}

void EnqueuedBias::set_state(const State &state)
{
  gpucoord::BiasState known = bias.state();
  std::copy_n(state.s, known.s.size(), known.s.begin());
  std::copy_n(state.dVdS, known.dVdS.size(), known.dVdS.begin());
  known.energy = state.energy;
  known.work = state.work;
  if (terms.has_averages())
    std::copy_n(state.averages, 1 + 2 * known.s.size(), known.own.begin() + terms.averages.first);
  bias.set_state(known);
}

// Raises the errors that the GPU found in evaluations since the state was set.
void EnqueuedBias::raise_errors(const State &state)
{
  if (!update->whichflag) return;    // the last run ended in an error; the variables may be deleted
  for (std::size_t v = 0; v < variables.size(); ++v)
    variables[v].compute->raise_device_errors(state.moved,
                                              state.bad_atom >= 0 || !std::isfinite(state.s[v]));
  if (!state.not_finite && !state.outside) return;
  holder = Holder::BOTH;
  if (state.not_finite) {
    set_state(state);
    call([this] {
      bias.check();
    });
  } else {
    // The host finds the same error, and its message gives the end of the grid.
    last_step.phase = gpucoord::Step::Phase::STEP;
    call([&] {
      bias.evaluate(last_step, state.s);
    });
  }
}

// Adds variables and their children, each once.
static void collect(const std::vector<VariableRef> &some, std::set<const CollectiveVariable *> &all)
{
  for (const VariableRef &one : some)
    if (all.insert(one.compute).second) collect(one.compute->children(), all);
}

double EnqueuedBias::bytes_copied() const
{
  std::set<const CollectiveVariable *> all;
  collect(variables, all);
  double bytes = resident ? static_cast<double>(resident->bytes_copied()) : 0.0;
  for (const CollectiveVariable *variable : all) {
    const double mine = variable->bytes_copied();
    if (mine < 0.0) return -1.0;
    bytes += mine;
  }
  return bytes;
}
