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

#include "bias_evaluation.h"

#include "coord_variable.h"
#include "gpucoord_atom_mass.h"
#include "gpucoord_broadcast_text.h"
#include "gpucoord_variable.h"

#include "atom.h"
#include "comm.h"
#include "error.h"
#include "fix.h"
#include "force.h"
#include "input.h"
#include "modify.h"
#include "timer.h"
#include "update.h"
#include "variable.h"

#include <cmath>
#include <exception>

using namespace LAMMPS_NS;

/* ---------------------------------------------------------------------- */

BiasEvaluation::BiasEvaluation(LAMMPS *lmp, std::string owner_in, gpucoord::Bias &bias_in,
                               VariableUser &user_in) :
    Pointers(lmp),
    owner(std::move(owner_in)), bias(bias_in), user(user_in), board(BiasBoard::get(lmp)),
    enqueued(lmp, owner, bias, user.variables()), is_enqueued(false), nevaluations(0),
    copied_before(-1.0), has_checked_frequencies(false)
{
}

BiasEvaluation::~BiasEvaluation()
{
  board->remove(&user);
}

void BiasEvaluation::begin_run()
{
  enqueued.begin_run();
  nevaluations = 0;
  board->find_users();
}

void BiasEvaluation::end_run()
{
  enqueued.wait();
  const double copied = bytes_copied();
  if (nevaluations > 0 && copied_before >= 0.0 && copied >= 0.0 && comm->me == 0)
    utils::logmesg(lmp, "{}: copied to and from the GPU: {:.0f} bytes per step\n", owner,
                   (copied - copied_before) / static_cast<double>(nevaluations));
  for (Compute *const compute : modify->get_compute_list())
    if (auto *const variable = dynamic_cast<CoordVariable *>(compute)) variable->end_run();
}

double BiasEvaluation::bytes_copied() const
{
  const double variable_bytes = user.bytes_copied(), enqueued_bytes = enqueued.bytes_copied();
  return variable_bytes < 0.0 || enqueued_bytes < 0.0 ? -1.0 : variable_bytes + enqueued_bytes;
}

/* ---------------------------------------------------------------------- */

void BiasEvaluation::call(const std::function<void()> &work, std::vector<double> &results) const
{
  std::string failure;
  if (comm->me == 0 || !bias.on_rank_0()) {
    try {
      work();
    } catch (const std::bad_alloc &) {
      if (!bias.on_rank_0())    // other ranks may have enough memory
        error->one(FLERR, Error::NOLASTLINE, "{}: out of memory", owner);
      failure = "out of memory" + bias.memory_advice();
    } catch (const std::exception &e) {
      failure = e.what();
    }
  }
  if (bias.on_rank_0()) {
    results.push_back(failure.empty() ? 0.0 : 1.0);
    MPI_Bcast(results.data(), static_cast<int>(results.size()), MPI_DOUBLE, 0, world);
    if (results.back() != 0.0) broadcast_text(failure, 0, world);
    results.pop_back();
  }
  if (!failure.empty()) error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, failure);
}

void BiasEvaluation::call(const std::function<void()> &work) const
{
  std::vector<double> no_results;
  call(work, no_results);
}

// Calls visit(number) for each number of a state.
template <class State, class Visit> static void visit_values(State &state, const Visit &visit)
{
  visit(state.energy);
  visit(state.work);
  for (auto *list : {&state.s, &state.dVdS, &state.own})
    for (auto &value : *list) visit(value);
}

void BiasEvaluation::call_and_share(const std::function<void()> &work,
                                    std::vector<double> &results) const
{
  if (!bias.on_rank_0()) {
    call(work, results);
    return;
  }
  gpucoord::BiasState state = bias.state();
  const std::size_t n = results.size();
  visit_values(state, [&](double) {
    results.push_back(0.0);
  });
  call(
      [&] {
        work();
        double *next = &results[n];
        visit_values(bias.state(), [&](double value) {
          *next++ = value;
        });
      },
      results);
  const double *next = &results[n];
  visit_values(state, [&](double &value) {
    value = *next++;
  });
  bias.set_state(state);
  results.resize(n);
}

void BiasEvaluation::call_and_share(const std::function<void()> &work) const
{
  std::vector<double> no_results;
  call_and_share(work, no_results);
}

/* ---------------------------------------------------------------------- */

void BiasEvaluation::set_parameters(const gpucoord::Step &step)
{
  bool evaluates_variables = false;
  const auto value = [&](const std::string &name) {
    if (!evaluates_variables) {
      board->atoms_to_host();
      modify->clearstep_compute();
    }
    evaluates_variables = true;
    const double found = input->variable->compute_equal(input->variable->find(name.c_str()));
    if (!std::isfinite(found))
      error->all(FLERR, Error::NOLASTLINE,
                 "{}: variable {} is {}, not a finite number - correct its formula", owner, name,
                 found);
    return found;
  };
  try {
    bias.set(step, value);
    bias.set_energies(step, [this](const std::string &id) {
      Fix *const fix = modify->get_fix_by_id(id);
      if (!fix)
        error->all(FLERR, Error::NOLASTLINE,
                   "{}: fix {} was deleted after the last setup - use run without pre no", owner,
                   id);
      return fix->compute_scalar();
    });
  } catch (const std::runtime_error &e) {
    error->all(FLERR, Error::NOLASTLINE, "{}: {}", owner, e.what());
  }
  const bigint next = bias.next_set(update->ntimestep);
  if (evaluates_variables)
    modify->addstep_compute(next);
  else if (step.phase == Phase::SETUP && !bias.caller_variables().empty())
    modify->addstep_compute_all(next);
}

void BiasEvaluation::evaluate(const gpucoord::Step &step, double strength)
{
  if (nevaluations++ == 0) copied_before = bytes_copied();
  is_enqueued = board->are_enqueued(&user);
  board->take_forces();
  if (is_enqueued) {
    enqueued.evaluate(step, strength);
    return;
  }
  enqueued.wait();
  board->evaluate();
  std::vector<double> s;
  for (const VariableRef &variable : user.variables()) s.push_back(variable.value());
  std::vector<double> must_end(1);
  call_and_share(
      [&] {
        bias.evaluate(step, s.data());
        must_end[0] = bias.must_end();
      },
      must_end);
  if (must_end[0] != 0.0) timer->force_timeout();
  enqueued.host_has_evaluated();
}

/* ---------------------------------------------------------------------- */

// Collective. Returns the sum of |dS/dx|^2/m over all atoms, in units of frequency squared per
// V''. Without KOKKOS, the gradients of an evaluation in this setup are on the host.
double BiasEvaluation::inverse_mass(const VariableRef &variable)
{
  const bool has_gradients =
      nevaluations > 0 && variable.compute->is_known() && variable.compute->is_without_kokkos();
  if (!has_gradients) board->evaluate_now(variable.compute, gpucoord::DERIVATIVES);
  board->atoms_to_host();
  const std::size_t nlocal = atom->nlocal;
  std::vector<double> gradients(3 * nlocal);
  std::vector<double *> rows;
  for (std::size_t i = 0; i < nlocal; ++i) rows.push_back(&gradients[3 * i]);
  const double one = 1.0;
  gpucoord::ItemFactors factors;
  factors.on_host = &one;
  factors.item = &variable.item;
  factors.n = 1;
  variable.compute->add_gradients(factors, rows.data(), 0);
  double here = 0.0, all;
  for (std::size_t i = 0; i < nlocal; ++i) {
    for (int k = 0; k < 3; ++k) here += rows[i][k] * rows[i][k] / mass_of(atom, i);
  }
  MPI_Allreduce(&here, &all, 1, MPI_DOUBLE, MPI_SUM, world);
  return all * force->ftm2v;
}

void BiasEvaluation::check_frequencies(double timestep)
{
  if (has_checked_frequencies || nevaluations == 0) return;
  has_checked_frequencies = true;
  const double before = bytes_copied();
  for (int v = 0; v < bias.nvariables(); ++v) {
    auto stiffness = bias.stiffness(v, state().s[v]);
    MPI_Bcast(&stiffness.curvature, 1, MPI_DOUBLE, 0, world);    // all ranks must agree
    if (!(stiffness.curvature > 0.0)) continue;
    const std::string text = gpucoord::warning_of_frequency(
        bias.labels()[v], stiffness, inverse_mass(user.variables()[v]), timestep);
    if (!text.empty() && comm->me == 0) error->warning(FLERR, "{}: {}", owner, text);
  }
  if (copied_before >= 0.0) copied_before += bytes_copied() - before;
}

/* ---------------------------------------------------------------------- */

void BiasEvaluation::evaluate_variables()
{
  if (nevaluations++ == 0) copied_before = bytes_copied();
  is_enqueued = false;
  board->take_forces();
  board->evaluate();
}

void BiasEvaluation::add_forces(double strength)
{
  if (is_enqueued) {
    enqueued.add_forces(strength);
    return;
  }
  // The factor is 0 if the bias did not need the variable.
  for_each_compute(user.variables(), bias.factors(strength),
                   [this](CollectiveVariable *variable, const gpucoord::ItemFactors &factors) {
                     const bool needs_sync = variable->is_without_kokkos();
                     if (needs_sync) board->atoms_to_host();
                     variable->add_forces(factors);
                     if (needs_sync) board->forces_changed_on_host();
                   });
}

/* ---------------------------------------------------------------------- */

const gpucoord::BiasState &BiasEvaluation::state()
{
  enqueued.wait();
  return bias.state();
}

double BiasEvaluation::output(int n)
{
  enqueued.wait();
  const auto &output = bias.outputs()[n];
  if (!output.on_demand || !bias.on_rank_0()) return output.value();
  std::vector<double> value(1);
  call(
      [&] {
        value[0] = output.value();
      },
      value);
  return value[0];
}
