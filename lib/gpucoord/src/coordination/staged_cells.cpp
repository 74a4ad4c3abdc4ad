// Part of GPUCOORD, GPL-2.0. Evaluates atoms of host arrays on the GPU.

#include "staged_cells.h"

#include "coordination_cuda.h"

#include "../core/clock.h"
#include "../pairs/passes.h"
#include "../pairs/resident_pairs.h"
#include "../pairs/weights_host.h"

#include "gpucoord/resident_function.h"

#include <algorithm>

namespace gpucoord {

StagedCells::StagedCells(const SwitchTable &table_in, Precision precision_in, int nthreads_in,
                         const CudaTuning &tuning_in) :
    table(table_in),
    precision(precision_in), nthreads(nthreads_in), tuning(tuning_in),
    staged(table.ntypes() > 0, nthreads)
{
}

// Pairs depend on the functions and weights of their types, so that a change of weights needs a new
// engine.
void StagedCells::make_engine(const double *weight)
{
  const int n = table.ntypes() + 1;
  const std::size_t size = weight ? static_cast<std::size_t>(n) * n : 0;
  if (engine && weights.size() == size && std::equal(weights.begin(), weights.end(), weight))
    return;
  staged.invalidate();
  engine.reset();
  engine = make_resident_coordination(
      table, precision, make_resident_pairs(table, precision, weight, tuning), tuning);
  weights.assign(weight, weight + size);
}

void StagedCells::rebuild(const CellsInput &in, cudaStream_t stream)
{
  const DeviceSelection selection = staged.prepare(in, stream);
  engine->rebuild(staged.atoms(), selection, 0, stream);
}

// Waits. If an atom has moved too far, rebuilds the pairs and calls enqueue() again.
template <class Enqueue>
Totals StagedCells::evaluate_kept_pairs(const CellsInput &in, const Enqueue &enqueue,
                                        cudaStream_t stream)
{
  enqueue();
  Totals totals = engine->result(stream);
  if (!totals.moved) return totals;
  rebuild(in, stream);
  enqueue();
  return engine->result(stream);
}

// Adds s_i of the first n copied atoms to s_of_rows and to column 0. A null pointer is skipped.
void StagedCells::add_coordination_numbers(int n, unsigned want, double *s_of_rows,
                                           double *peratom) const
{
  const int columns = peratom_columns(want);
  const std::vector<int> &rows = staged.rows();
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 4096)
  for (int k = 0; k < n; ++k) {
    if (s_of_rows) s_of_rows[rows[k]] += s.pinned[k];
    if (peratom) peratom[columns * static_cast<std::size_t>(rows[k])] += s.pinned[k];
  }
}

void StagedCells::select_function(const DeviceFunction &function, cudaStream_t stream)
{
  selected_function = function.resident;
  selected_function->select(staged.atoms(), StagedAtoms::BIT_A, stream);
  selection_of_function = staged.nselections();
}

// Runs both passes without a wait between them. If the caller must evaluate the function, returns
// false and adds nothing.
bool StagedCells::evaluate_on_device(const CellsInput &in, unsigned want, double *peratom,
                                     Contribution &result, cudaStream_t stream)
{
  DeviceFunction &function = *in.second->on_device;
  function.is_evaluated = false;
  if (!function.resident) function.resident = make_resident_function(function.options, precision);
  if (selected_function != function.resident || selection_of_function != staged.nselections())
    select_function(function, stream);
  const bool has_second = want & (DERIVATIVES | VIRIAL);
  const int *const owners = has_second ? staged.owners(function.owner, stream) : nullptr;
  if (has_second && !owners) return false;
  const int n = in.a.nowned;    // the owned atoms of a are copied first
  if (peratom) s.pinned.reserve(n);
  if (function.f) f.reserve(n);
  if (function.w) stage(function.w, n, nthreads, stream, atom_weights);
  selected_function->set_weights({function.w ? atom_weights.device.data() : nullptr});
  bool s_is_in_sums = false;
  const auto enqueue = [&] {
    engine->evaluate_first(staged.atoms(), 0, selected_function->s(), stream);
    selected_function->evaluate(stream);
    if (has_second) engine->evaluate_second({want}, {selected_function->dSds(), owners}, stream);
    s_is_in_sums = peratom && engine->set_first_column(selected_function->s(), stream);
    paired.record(stream);
    engine->enqueue_result(stream);
    selected_function->enqueue_numbers(peratom && !s_is_in_sums ? s.pinned.data() : nullptr,
                                       function.f ? f.data() : nullptr, n, stream);
    numbers_copied.record(stream);
    if (peratom) engine->enqueue_peratom(stream);
  };
  const Totals totals = evaluate_kept_pairs(in, enqueue, stream);
  const auto function_result = selected_function->result();
  if (function_result.bad >= 0) return false;
  numbers_copied.wait("computing a function of coordination numbers");
  if (peratom && !s_is_in_sums) add_coordination_numbers(n, want, nullptr, peratom);
  if (function.f) std::copy_n(f.data(), n, function.f);
  if (peratom) engine->add_peratom(peratom, staged.rows().data(), nthreads);
  result.value = function_result.value;
  std::copy_n(totals.virial, 6, result.virial);
  result.timings.tested = totals.tested;
  function.is_evaluated = true;
  return true;
}

Contribution StagedCells::evaluate_function(const CellsInput &in, unsigned want, double *peratom,
                                            cudaStream_t stream)
{
  Contribution result;
  const SecondPass &function = *in.second;
  if (function.on_device && evaluate_on_device(in, want, peratom, result, stream)) return result;
  const int n = in.a.nowned;    // the owned atoms of a are copied first
  s.reserve(staged.atoms().nlocal);
  const auto enqueue = [&] {
    engine->evaluate_first(staged.atoms(), 0, s.device.data(), stream);
    paired.record(stream);
    engine->enqueue_result(stream);
    if (n > 0)
      check(cudaMemcpyAsync(s.pinned.data(), s.device.data(), n * sizeof(double),
                            cudaMemcpyDeviceToHost, stream),
            "copying data to the host");
  };
  Totals totals = evaluate_kept_pairs(in, enqueue, stream);
  check(cudaStreamSynchronize(stream), "computing coordination numbers");
  add_coordination_numbers(n, want, function.s, peratom);
  result.value = totals.value;
  result.timings.tested = totals.tested;

  const double *const weights_of_rows = function.weights();
  if (!weights_of_rows || !(want & (DERIVATIVES | VIRIAL))) return result;
  const double unit = unit_of(weights_of_rows, function.nweights, nthreads);
  if (unit == 0.0) return result;
  const std::vector<int> &rows = staged.rows();
  send(atom_weights, rows.size(), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
    for (std::size_t k = begin; k < end; ++k) atom_weights.pinned[k] = weights_of_rows[rows[k]];
  });
  engine->evaluate_second({want}, {atom_weights.device.data(), nullptr, unit}, stream);
  paired.record(stream);
  engine->enqueue_result(stream);
  if (peratom) engine->enqueue_peratom(stream);
  totals = engine->result(stream);
  if (peratom) engine->add_peratom(peratom, staged.rows().data(), nthreads);
  std::copy_n(totals.virial, 6, result.virial);
  return result;
}

Contribution StagedCells::evaluate(const CellsInput &in, unsigned want, double *peratom,
                                   cudaStream_t stream)
{
  need_end(table, "cells");
  const double start = seconds();
  make_engine(in.types.weight);
  const bool has_pairs = staged.update(in, stream);
  copied.record(stream);
  if (!has_pairs) rebuild(in, stream);
  binned.record(stream);

  Contribution result;
  if (in.second)
    result = evaluate_function(in, want, peratom, stream);
  else {
    const auto enqueue = [&] {
      engine->evaluate(staged.atoms(), {want}, stream);
      paired.record(stream);
      engine->enqueue_result(stream);
      if (peratom) engine->enqueue_peratom(stream);
    };
    const Totals totals = evaluate_kept_pairs(in, enqueue, stream);
    if (peratom) engine->add_peratom(peratom, staged.rows().data(), nthreads);
    result.value = totals.value;
    std::copy_n(totals.virial, 6, result.virial);
    result.timings.tested = totals.tested;
  }
  result.timings.bins = seconds_between(copied, binned);
  result.timings.pairs = seconds_between(binned, paired);
  result.timings.copies = seconds() - start - seconds_between(copied, paired);
  staged.keep(in);
  return result;
}

std::size_t StagedCells::bytes() const
{
  return bytes_of(weights, staged, s, atom_weights, f) + (engine ? engine->bytes() : 0) +
      (selected_function ? selected_function->bytes() : 0);
}

}    // namespace gpucoord
