// Part of GPUCOORD, GPL-2.0. Copies atoms of host arrays to the GPU, and results to the host.

#include "staged_cells.h"

#include "coordination_cuda.h"

#include "../core/clock.h"
#include "../pairs/passes.h"
#include "../pairs/resident_pairs.h"
#include "../pairs/weights_host.h"

#include "gpucoord/resident_function.h"

#include <algorithm>

namespace gpucoord {

namespace {

  constexpr int BIT_A = 1, BIT_B = 2;

}    // namespace

StagedCells::StagedCells(const SwitchTable &table_in, Precision precision_in, int nthreads_in,
                         const CudaTuning &tuning_in) :
    table(table_in),
    precision(precision_in), nthreads(nthreads_in), tuning(tuning_in)
{
}

StagedCells::Selection StagedCells::selection_of(const CellsInput &in)
{
  const std::int64_t version = in.skin > 0.0 ? in.version : 0;
  return {version, in.a.n, in.a.nowned, in.b.n, in.b.nowned, in.b.index != nullptr};
}

bool StagedCells::is_known(const Selection &s) const
{
  return s.version != 0 && s.version == known.version && s.na == known.na &&
      s.nowned_a == known.nowned_a && s.nb == known.nb && s.nowned_b == known.nowned_b &&
      s.two == known.two;
}

// Pairs are sorted by the functions and weights of their types.
void StagedCells::make_engine(const double *weight)
{
  const int n = table.ntypes() + 1;
  const std::size_t size = weight ? static_cast<std::size_t>(n) * n : 0;
  if (engine && weights.size() == size && std::equal(weights.begin(), weights.end(), weight))
    return;
  known.version = 0;
  engine.reset();
  engine = make_resident_coordination(
      table, precision, make_resident_pairs(table, precision, weight, tuning), tuning);
  weights.assign(weight, weight + size);
}

// Lists the rows of x to copy, owned atoms first, and the groups of these atoms.
void StagedCells::select(const CellsInput &in)
{
  atoms = DeviceAtoms();
  selected_function.reset();
  if (!in.b.index) {
    rows.assign(in.a.index, in.a.index + in.a.n);
    atoms.nlocal = in.a.nowned;
  } else {
    int nall = 0;
    for (const AtomList *list : {&in.a, &in.b})
      for (int k = 0; k < list->n; ++k) nall = std::max(nall, list->index[k] + 1);
    std::vector<unsigned char> mask(nall, 0);
    for (int k = 0; k < in.a.n; ++k) mask[in.a.index[k]] |= BIT_A;
    for (int k = 0; k < in.b.n; ++k) mask[in.b.index[k]] |= BIT_B;
    rows.clear();
    const auto add = [&](const AtomList &list, int begin, int end, bool without_a) {
      for (int k = begin; k < end; ++k)
        if (!without_a || !(mask[list.index[k]] & BIT_A)) rows.push_back(list.index[k]);
    };
    add(in.a, 0, in.a.nowned, false);
    add(in.b, 0, in.b.nowned, true);
    atoms.nlocal = static_cast<int>(rows.size());
    add(in.a, in.a.nowned, in.a.n, false);
    add(in.b, in.b.nowned, in.b.n, true);
    masks.reserve(rows.size());
    for (std::size_t k = 0; k < rows.size(); ++k) masks.pinned[k] = mask[rows[k]];
  }
  atoms.nall = static_cast<int>(rows.size());
  positions.reserve(rows.size());
  if (table.ntypes() > 0) types.reserve(rows.size());
}

// Copies positions. Returns whether the types are those of the last rebuild.
bool StagedCells::stage(const CellsInput &in, bool types_are_known, cudaStream_t stream)
{
  const bool compares = types_are_known && table.ntypes() > 0;
  int differ = 0;
  send(positions, rows.size(), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096) \
    reduction(|                                                                         \
              : differ)
    for (std::size_t k = begin; k < end; ++k) {
      const double *const x = in.x + 3 * static_cast<std::size_t>(rows[k]);
      positions.pinned[k] = {x[0], x[1], x[2]};
      if (compares) differ |= types.pinned[k] != in.types.type[rows[k]];
    }
  });
  atoms.x = positions.device.data();
  return differ == 0;
}

void StagedCells::rebuild(const CellsInput &in, bool is_evaluated_once, cudaStream_t stream)
{
  if (in.b.index) {
    send(masks, rows.size(), stream, [](std::size_t, std::size_t) {
    });    // select() filled them
    atoms.mask = masks.device.data();
  }
  if (table.ntypes() > 0) {
    send(types, rows.size(), stream, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) types.pinned[k] = in.types.type[rows[k]];
    });
    atoms.type = types.device.data();
  }
  DeviceSelection selection;
  selection.bit_a = BIT_A;
  selection.bit_b = in.b.index ? BIT_B : 0;
  selection.is_evaluated_once = is_evaluated_once;
  selection.skin = is_evaluated_once ? 0.0 : in.skin;
  engine->rebuild(atoms, selection, 0, stream);
}

// Waits. If an atom has moved too far, finds the pairs again and calls enqueue().
template <class Enqueue>
Totals StagedCells::evaluate_kept_pairs(const CellsInput &in, bool is_evaluated_once,
                                        const Enqueue &enqueue, cudaStream_t stream)
{
  enqueue();
  Totals totals = engine->result(stream);
  if (!totals.moved) return totals;
  rebuild(in, is_evaluated_once, stream);
  enqueue();
  return engine->result(stream);
}

// Adds s_i of the first n copied atoms to s_of_rows and to column 0; null: not.
void StagedCells::add_coordination_numbers(int n, unsigned want, double *s_of_rows,
                                           double *peratom) const
{
  const int columns = peratom_columns(want);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 4096)
  for (int k = 0; k < n; ++k) {
    if (s_of_rows) s_of_rows[rows[k]] += s.pinned[k];
    if (peratom) peratom[columns * static_cast<std::size_t>(rows[k])] += s.pinned[k];
  }
}

void StagedCells::select_function(const DeviceFunction &function, cudaStream_t stream)
{
  selected_function = function.resident;
  selected_function->select(atoms, BIT_A, stream);
  known_owners = Owners::UNKNOWN;
}

// Copies the owners of the copied atoms. Returns false if one of them is not copied itself.
bool StagedCells::send_owners(const int *owner, cudaStream_t stream)
{
  if (known_owners != Owners::UNKNOWN) return known_owners == Owners::SELECTED;
  const int n = atoms.nlocal;
  int nrows = 0, is_missing = 0;
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 4096) reduction(max : nrows)
  for (int k = 0; k < n; ++k) nrows = std::max(nrows, rows[k] + 1);
  index_of_row.assign(nrows, -1);
#pragma omp parallel for schedule(static) num_threads(nthreads) if (n > 4096)
  for (int k = 0; k < n; ++k) index_of_row[rows[k]] = k;
  send(owners, rows.size(), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096) \
    reduction(|                                                                         \
              : is_missing)
    for (std::size_t k = begin; k < end; ++k) {
      const int row = owner[rows[k]];
      owners.pinned[k] = row < nrows ? index_of_row[row] : -1;
      is_missing |= owners.pinned[k] < 0;
    }
  });
  known_owners = is_missing ? Owners::MISSING : Owners::SELECTED;
  return !is_missing;
}

// Makes both passes, and does not wait between them. Returns false, and adds nothing, if the caller
// must evaluate the function.
bool StagedCells::evaluate_on_device(const CellsInput &in, bool is_evaluated_once, unsigned want,
                                     double *peratom, Contribution &result, cudaStream_t stream)
{
  DeviceFunction &function = *in.second->on_device;
  function.is_evaluated = false;
  if (!function.resident) function.resident = make_resident_function(function.options, precision);
  if (selected_function != function.resident) select_function(function, stream);
  const bool has_second = want & (DERIVATIVES | VIRIAL);
  if (has_second && !send_owners(function.owner, stream)) return false;
  const int n = in.a.nowned;    // the first of the copied atoms
  if (peratom) s.pinned.reserve(n);
  if (function.f) f.reserve(n);
  bool s_is_in_sums = false;
  const auto enqueue = [&] {
    engine->evaluate_first(atoms, 0, selected_function->s(), stream);
    selected_function->evaluate(stream);
    if (has_second)
      engine->evaluate_second({want}, {selected_function->dSds(), owners.device.data()}, stream);
    s_is_in_sums = peratom && engine->set_first_column(selected_function->s(), stream);
    paired.record(stream);
    engine->enqueue_result(stream);
    selected_function->enqueue_numbers(peratom && !s_is_in_sums ? s.pinned.data() : nullptr,
                                       function.f ? f.data() : nullptr, n, stream);
    numbers_copied.record(stream);
    if (peratom) engine->enqueue_peratom(stream);
  };
  const Totals totals = evaluate_kept_pairs(in, is_evaluated_once, enqueue, stream);
  const auto of_atoms = selected_function->result();
  if (of_atoms.bad >= 0) return false;
  numbers_copied.wait("computing a function of coordination numbers");
  if (peratom && !s_is_in_sums) add_coordination_numbers(n, want, nullptr, peratom);
  if (function.f) std::copy_n(f.data(), n, function.f);
  if (peratom) engine->add_peratom(peratom, rows.data(), nthreads);
  result.value = of_atoms.value;
  std::copy_n(totals.virial, 6, result.virial);
  result.timings.tested = totals.tested;
  function.is_evaluated = true;
  return true;
}

Contribution StagedCells::evaluate_function(const CellsInput &in, bool is_evaluated_once,
                                            unsigned want, double *peratom, cudaStream_t stream)
{
  Contribution result;
  const SecondPass &function = *in.second;
  if (function.on_device &&
      evaluate_on_device(in, is_evaluated_once, want, peratom, result, stream))
    return result;
  const int n = in.a.nowned;    // the first of the copied atoms
  s.reserve(atoms.nlocal);
  const auto enqueue = [&] {
    engine->evaluate_first(atoms, 0, s.device.data(), stream);
    paired.record(stream);
    engine->enqueue_result(stream);
    if (n > 0)
      check(cudaMemcpyAsync(s.pinned.data(), s.device.data(), n * sizeof(double),
                            cudaMemcpyDeviceToHost, stream),
            "copying from it");
  };
  Totals totals = evaluate_kept_pairs(in, is_evaluated_once, enqueue, stream);
  check(cudaStreamSynchronize(stream), "computing coordination numbers");
  add_coordination_numbers(n, want, function.s, peratom);
  result.value = totals.value;
  result.timings.tested = totals.tested;

  const double *const weights_of_rows = function.weights();
  if (!weights_of_rows || !(want & (DERIVATIVES | VIRIAL))) return result;
  const double unit = unit_of(weights_of_rows, function.nweights, nthreads);
  if (unit == 0.0) return result;
  send(atom_weights, rows.size(), stream, [&](std::size_t begin, std::size_t end) {
#pragma omp parallel for schedule(static) num_threads(nthreads) if (end - begin > 4096)
    for (std::size_t k = begin; k < end; ++k) atom_weights.pinned[k] = weights_of_rows[rows[k]];
  });
  engine->evaluate_second({want}, {atom_weights.device.data(), nullptr, unit}, stream);
  paired.record(stream);
  engine->enqueue_result(stream);
  if (peratom) engine->enqueue_peratom(stream);
  totals = engine->result(stream);
  if (peratom) engine->add_peratom(peratom, rows.data(), nthreads);
  std::copy_n(totals.virial, 6, result.virial);
  return result;
}

Contribution StagedCells::evaluate(const CellsInput &in, unsigned want, double *peratom,
                                   cudaStream_t stream)
{
  need_end(table, "cells");
  const double start = seconds();
  make_engine(in.types.weight);
  const Selection now = selection_of(in);
  bool has_pairs = is_known(now);
  known.version = 0;    // stays 0 if an exception is thrown
  if (!has_pairs) select(in);
  if (!stage(in, has_pairs, stream)) has_pairs = false;
  copied.record(stream);
  if (!has_pairs) rebuild(in, now.version == 0, stream);
  binned.record(stream);

  Contribution result;
  if (in.second)
    result = evaluate_function(in, now.version == 0, want, peratom, stream);
  else {
    const auto enqueue = [&] {
      engine->evaluate(atoms, {want}, stream);
      paired.record(stream);
      engine->enqueue_result(stream);
      if (peratom) engine->enqueue_peratom(stream);
    };
    const Totals totals = evaluate_kept_pairs(in, now.version == 0, enqueue, stream);
    if (peratom) engine->add_peratom(peratom, rows.data(), nthreads);
    result.value = totals.value;
    std::copy_n(totals.virial, 6, result.virial);
    result.timings.tested = totals.tested;
  }
  result.timings.bins = seconds_between(copied, binned);
  result.timings.pairs = seconds_between(binned, paired);
  result.timings.copies = seconds() - start - seconds_between(copied, paired);
  known = now;
  return result;
}

}    // namespace gpucoord
