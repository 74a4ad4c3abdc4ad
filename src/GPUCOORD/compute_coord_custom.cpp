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

#include "compute_coord_custom.h"

#include "bias_board.h"

#include "gpucoord/expression.h"
#include "gpucoord/pairs.h"
#include "gpucoord/period.h"
#include "gpucoord/resident_expression.h"

#include "comm.h"
#include "error.h"
#include "modify.h"
#include "update.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>

using namespace LAMMPS_NS;
using gpucoord::Expression;

/* ----------------------------------------------------------------------
   compute ID all coord/custom expression name c_ID [name c_ID ...] [periodic LO HI]
------------------------------------------------------------------------- */

static constexpr int EXPRESSION = 3;    // index of its argument
static constexpr int CHILDREN = 4;      // index of the argument of the first name

// The GPU adds the forces of a variable once for each place of the variable in an expression and
// the expressions that it contains. The host first sums the factors of all places. Without sharing,
// both cost the same.
static constexpr int MAX_GPU_PATHS = 64;

ComputeCoordCustom::ComputeCoordCustom(LAMMPS *lmp, int narg, char **arg) :
    CoordVariable(lmp, narg, arg), npaths(0.0), max_gpu_paths(MAX_GPU_PATHS),
    board(BiasBoard::get(lmp)), known_rounding(0.0)
{
  if (igroup != 0)
    error->all(FLERR, 1,
               "Compute coord/custom group must be all, not {}: S is of the atoms of the groups of "
               "its variables - use group all, and choose atoms by the groups of the variables",
               arg[1]);
  if (narg <= EXPRESSION) utils::missing_cmd_args(FLERR, "compute coord/custom", error);
  text = arg[EXPRESSION];
  parse_children(parse_period(narg, arg), arg);

  for (const Child &child : list) names.push_back(child.name);
  try {
    expression = std::make_unique<Expression>(text, names);
  } catch (const gpucoord::ExpressionError &e) {
    const auto found = std::find(names.begin(), names.end(), e.name);
    const int position =
        found == names.end() ? EXPRESSION : CHILDREN + 2 * static_cast<int>(found - names.begin());
    error->all(FLERR, position, "Compute coord/custom: {}", e.what());
  }
  values.resize(list.size());
  derivatives.resize(list.size());

  check_periods();

  set_outputs(6, 3);
}

// Compares S at both ends of the period of each periodic variable, at a few values of the others. S
// may jump by its own period.
void ComputeCoordCustom::check_periods() const
{
  constexpr int SAMPLES = 8;
  constexpr double SAME = 1e-9;
  std::vector<gpucoord::Period> periods;
  for (const Child &child : list) {
    const auto *const compute = modify->get_compute_by_id(child.word.compute_id);
    const auto *const variable = dynamic_cast<const CollectiveVariable *>(compute);
    periods.push_back(variable->period(child.word.item()));
  }
  for (std::size_t k = 0; k < list.size(); ++k) {
    if (!periods[k].exists()) continue;
    for (int sample = 0; sample < SAMPLES; ++sample) {
      std::vector<double> s(list.size());
      for (std::size_t j = 0; j < list.size(); ++j) {
        const double part = std::fmod(0.137 + 0.618 * sample + 0.414 * static_cast<double>(j), 1.0);
        s[j] = periods[j].exists() ? periods[j].lo + part * periods[j].length : 5.0 * part;
      }
      s[k] = periods[k].lo;
      const double low = expression->evaluate(s.data(), nullptr);
      s[k] = periods[k].hi();
      const double high = expression->evaluate(s.data(), nullptr);
      if (std::fabs(own_period.difference(high, low)) > SAME * std::max(1.0, std::fabs(low)))
        error->all(FLERR, CHILDREN + 2 * static_cast<int>(k) + 1,
                   "Compute coord/custom: {} has the period {:.10g}, but S jumps from {:.6g} to "
                   "{:.6g} at its end - use functions with this period, such as its sine and "
                   "cosine, or keyword periodic with a period of S that divides the jump",
                   list[k].word.word, periods[k].length, high, low);
    }
  }
}

ComputeCoordCustom::~ComputeCoordCustom() = default;

// Returns the number of arguments before keyword periodic, which can also be the name of a child.
int ComputeCoordCustom::parse_period(int narg, char **arg)
{
  int iarg = CHILDREN;
  const auto is_keyword = [&] {
    return !strcmp(arg[iarg], "periodic") &&
        (iarg + 1 == narg || !utils::strmatch(arg[iarg + 1], "^c_"));
  };
  while (iarg < narg && !is_keyword()) iarg += 2;
  if (iarg >= narg) return narg;
  if (narg != iarg + 3)
    error->all(FLERR, iarg,
               "Compute coord/custom: keyword periodic takes the two ends of the period, as in "
               "periodic -pi pi, at the end of the command, but has {} words after it",
               narg - iarg - 1);
  double ends[2];
  for (int k = 0; k < 2; ++k)
    if (!gpucoord::to_bound(arg[iarg + 1 + k], ends[k]))
      error->all(FLERR, iarg + 1 + k,
                 "Compute coord/custom: the end of a period must be a number, pi or -pi, not '{}'",
                 arg[iarg + 1 + k]);
  own_period = {ends[0], ends[1] - ends[0]};
  if (!own_period.exists() || !std::isfinite(own_period.length))
    error->all(FLERR, iarg + 1,
               "Compute coord/custom: the period from {} to {} has the length {:g}, but it must be "
               "> 0 and finite - give the lower end first",
               arg[iarg + 1], arg[iarg + 2], own_period.length);
  return iarg;
}

void ComputeCoordCustom::parse_children(int narg, char **arg)
{
  if (narg == CHILDREN)
    error->all(FLERR, EXPRESSION,
               "Compute coord/custom needs a name and a variable, as c_ID, for each name in the "
               "expression '{}'",
               text);
  // Only a compute that others already use can close a loop.
  const auto computes = modify->get_compute_list();
  const bool is_used = std::any_of(computes.begin(), computes.end(), [this](Compute *compute) {
    const auto *const custom = dynamic_cast<ComputeCoordCustom *>(compute);
    return custom && custom->has_child(id);
  });
  for (int iarg = CHILDREN; iarg < narg; iarg += 2) {
    const std::string name = arg[iarg];
    if (!Expression::is_name(name))
      error->all(FLERR, iarg,
                 "Compute coord/custom: '{}' is not a name - use letters, digits and _, and no "
                 "digit first, and put an expression with spaces in quotes",
                 name);
    for (const Child &child : list)
      if (child.name == name)
        error->all(FLERR, iarg,
                   "Compute coord/custom: the name {} is given twice - give each name once", name);
    if (iarg + 1 == narg)
      error->all(FLERR, iarg,
                 "Compute coord/custom: the name {} needs a compute, as c_ID, after it", name);

    const std::string word = arg[iarg + 1];
    if (!utils::strmatch(word, "^c_."))
      error->all(FLERR, iarg + 1, "Compute coord/custom: {} must be a compute, as c_ID, not '{}'",
                 name, word);
    const VariableWord value(word);
    const std::string &compute_id = value.compute_id;
    auto *const compute = modify->get_compute_by_id(compute_id);
    const auto *const variable = dynamic_cast<CollectiveVariable *>(compute);
    const bool has_values = variable && variable->size() > 1;
    if (word.find('[') != std::string::npos && !has_values)
      error->all(FLERR, iarg + 1,
                 "Compute coord/custom takes a whole variable, c_{}, not {} - leave out the "
                 "brackets",
                 compute_id, word);
    for (const Child &child : list)
      if (child.word.word == word && has_values)
        error->all(
            FLERR, iarg + 1,
            "Compute coord/custom: {} is given twice, as {} and as {} - give each value once", word,
            child.name, name);
      else if (child.word.word == word)
        error->all(FLERR, iarg + 1,
                   "Compute coord/custom: compute {} is given twice, as {} and as {} - give each "
                   "variable once",
                   compute_id, child.name, name);

    if (compute_id == id)
      error->all(FLERR, iarg + 1,
                 "Compute coord/custom: compute {} cannot be a variable of itself - use another "
                 "compute",
                 compute_id);
    if (!compute)
      error->all(FLERR, iarg + 1,
                 "Compute coord/custom: compute {} does not exist - define it before this compute",
                 compute_id);
    if (!variable)
      error->all(FLERR, iarg + 1,
                 "Compute coord/custom takes collective variables (computes of style {}), but "
                 "compute {} is of style {}",
                 styles_of_variables(), compute_id, compute->style);
    if (!variable->why_no_bias().empty())
      error->all(FLERR, iarg + 1, "Compute coord/custom cannot take compute {}: {}", compute_id,
                 variable->why_no_bias());
    const std::string problem = value.problem(*variable);
    if (!problem.empty()) error->all(FLERR, iarg + 1, "Compute coord/custom: {}", problem);
    const auto *const custom = dynamic_cast<ComputeCoordCustom *>(compute);
    if (custom && is_used && custom->depends_on(id))
      error->all(FLERR, iarg + 1,
                 "Compute coord/custom: compute {} is itself an expression of compute {} - "
                 "variables must not form a loop, so use another compute ID",
                 compute_id, id);
    list.push_back({name, value, variable->serial()});
    // With KOKKOS, gradients stay where the children store them.
    kokkosable = (list.size() == 1 || kokkosable) && compute->kokkosable;
  }
}

bool ComputeCoordCustom::has_child(const std::string &compute_id) const
{
  return std::any_of(list.begin(), list.end(), [&compute_id](const Child &child) {
    return child.word.compute_id == compute_id;
  });
}

// Returns whether the expression contains a compute with this ID. Compares only IDs, because
// children may have been deleted. Visits each compute once, because expressions may share children.
bool ComputeCoordCustom::depends_on(const std::string &compute_id) const
{
  std::set<const ComputeCoordCustom *> visited = {this};
  std::vector<const ComputeCoordCustom *> left = {this};
  while (!left.empty()) {
    const ComputeCoordCustom *const one = left.back();
    left.pop_back();
    if (one->has_child(compute_id)) return true;
    for (const Child &child : one->list) {
      const auto *const custom =
          dynamic_cast<ComputeCoordCustom *>(modify->get_compute_by_id(child.word.compute_id));
      if (custom && visited.insert(custom).second) left.push_back(custom);
    }
  }
  return false;
}

/* ---------------------------------------------------------------------- */

void ComputeCoordCustom::init()
{
  variables.clear();
  for (const Child &child : list) variables.push_back(variable_of(child));
  npaths = 0.0;
  for (const VariableRef &one : variables) {
    const auto *const custom = dynamic_cast<const ComputeCoordCustom *>(one.compute);
    npaths += custom ? custom->npaths : 1.0;
  }
  below.clear();
  max_gpu_paths = MAX_GPU_PATHS;
  if (npaths > max_gpu_paths) {
    const auto &all = variables_below();
    const auto n = std::count_if(all.begin(), all.end(), [](const Below &one) {
      return !one.custom;
    });
    max_gpu_paths = std::max(max_gpu_paths, static_cast<double>(n));
  }
  CoordVariable::init();
  make_resident();
  print_setup();
}

// Evaluates S if it must be printed; see ComputeCoordPair::setup(). The children warn themselves.
void ComputeCoordCustom::setup()
{
  const bool has_atoms = kokkosable || !lmp->kokkos;
  if (!must_print_value || !has_atoms) return;
  bool can_evaluate = begin_setup();
  for (const Below &one : variables_below())
    if (!one.variable->begin_setup()) can_evaluate = false;
  if (can_evaluate) board->evaluate_now(this, gpucoord::VALUE);
  for (const Below &one : variables_below()) one.variable->end_setup();
  end_setup();
}

static std::string gpu_failure(const std::string &name, const char *what)
{
  return fmt::format("{}: {} - use device host for its variables", name, what);
}

// LAMMPS initializes computes in the order of their definition, the children before this one.
void ComputeCoordCustom::make_resident()
{
  if (resident || !gpu_limit.empty()) return;
  if (npaths > max_gpu_paths) {
    const auto &all = variables_below();
    if (std::all_of(all.begin(), all.end(), [](const Below &one) {
          return one.custom || one.variable->is_resident();
        }))
      gpu_limit = fmt::format("has its variables in {:.6g} places, counting those in the "
                              "expressions that it contains, but the GPU supports at most {:.6g}",
                              npaths, max_gpu_paths);
    return;
  }
  if (!is_resident()) return;
  try {
    resident = gpucoord::make_resident_expression(text, names, own_period);
  } catch (const std::length_error &e) {
    gpu_limit = e.what();
  } catch (const gpucoord::DeviceError &e) {
    error->all(FLERR, Error::NOLASTLINE, gpu_failure(name, e.what()));
  }
}

// Collective. Compares serial numbers, because a later compute may have the address of a deleted
// one.
VariableRef ComputeCoordCustom::variable_of(const Child &child) const
{
  auto *const compute = modify->get_compute_by_id(child.word.compute_id);
  if (!compute)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: compute {} no longer exists - keep it while compute {} "
               "uses it",
               name, child.word.compute_id, id);
  auto *const variable = dynamic_cast<CollectiveVariable *>(compute);
  if (!variable || variable->serial() != child.serial)
    error->all(FLERR, Error::NOLASTLINE,
               "{}: compute {} was deleted and defined again - define "
               "compute {} again after it",
               name, child.word.compute_id, id);
  return child.word.ref(variable);
}

void ComputeCoordCustom::print_setup()
{
  std::string mesg = fmt::format("{}: S = {} with", name, text);
  for (const Child &child : list)
    mesg +=
        fmt::format("{} {} = {}", &child == &list.front() ? "" : ",", child.name, child.word.word);
  if (own_period.exists())
    mesg += fmt::format(", periodic from {} to {}", gpucoord::text_of_bound(own_period.lo),
                        gpucoord::text_of_bound(own_period.hi()));
  mesg += resident && is_resident() ? ", evaluated on the GPU" : ", evaluated on the host";
  if (!gpu_limit.empty()) mesg += fmt::format(": the expression {}", gpu_limit);
  print_once(mesg + "\n");
}

// Called in the first evaluation after print_setup() has printed a line.
void ComputeCoordCustom::print_value()
{
  must_print_value = false;
  std::string mesg = fmt::format("{}: S {:.6g} with", name, known_value);
  for (std::size_t k = 0; k < list.size(); ++k)
    mesg += fmt::format("{} {} {:.6g}", k ? "," : "", list[k].name, values[k]);
  if (comm->me == 0) utils::logmesg(lmp, mesg + "\n");
}

/* ----------------------------------------------------------------------
   interface of collective variables
------------------------------------------------------------------------- */

// Collective. Checks the children in each force evaluation, because LAMMPS does not call init()
// with run pre no.
const std::vector<VariableRef> &ComputeCoordCustom::children() const
{
  for (std::size_t k = 0; k < variables.size(); ++k)
    if (!variables[k].is_alive()) variable_of(list[k]);    // raises an error
  return variables;
}

// Returns all variables below this one, each once, children before parents. Collective, because it
// checks the children.
const std::vector<ComputeCoordCustom::Below> &ComputeCoordCustom::variables_below() const
{
  if (!below.empty()) return below;
  // 'below' remains empty if a child no longer exists.
  std::vector<Below> all;
  std::vector<std::size_t> own_places;
  std::map<const CollectiveVariable *, std::size_t> places;    // of the first value
  std::size_t nvalues = 0;
  const std::function<std::size_t(const VariableRef &)> add = [&](const VariableRef &value) {
    CollectiveVariable *const variable = value.compute;
    const auto found = places.find(variable);
    if (found != places.end()) return found->second + value.item;
    Below one = {variable, dynamic_cast<ComputeCoordCustom *>(variable), 0, {}};
    for (const VariableRef &child : variable->children()) one.children.push_back(add(child));
    one.begin = places[variable] = nvalues;
    nvalues += variable->size();
    all.push_back(std::move(one));
    return nvalues - variable->size() + value.item;
  };
  for (const VariableRef &child : children()) own_places.push_back(add(child));
  places_of_children = std::move(own_places);
  below = std::move(all);
  return below;
}

// Checks that all variables below this one still exist.
void ComputeCoordCustom::check_variables_below() const
{
  children();
  const auto &all = variables_below();
  // Parents before children, because only an existing parent knows its children.
  for (auto one = all.rbegin(); one != all.rend(); ++one) one->variable->children();
}

std::string ComputeCoordCustom::dynamic_group() const
{
  check_variables_below();
  for (const Below &one : below) {
    if (one.custom) continue;
    const std::string name = one.variable->dynamic_group();
    if (!name.empty()) return name;
  }
  return "";
}

int ComputeCoordCustom::groups() const
{
  check_variables_below();
  int bits = 0;
  for (const Below &one : below)
    if (!one.custom) bits |= one.variable->groups();
  return bits;
}

// Not with several ranks, because the host must wait for the sums over ranks.
bool ComputeCoordCustom::is_resident() const
{
  return comm->nprocs == 1 && gpu_limit.empty() && npaths <= max_gpu_paths &&
      std::all_of(variables.begin(), variables.end(), [](const VariableRef &child) {
           return child.compute->is_resident();
         });
}

bool ComputeCoordCustom::can_enqueue() const
{
  return resident && wanted == gpucoord::DERIVATIVES && is_resident();
}

gpucoord::DeviceValue ComputeCoordCustom::enqueue()
{
  // Output during a force evaluation may have evaluated a child with other outputs.
  std::vector<gpucoord::DeviceValue> child_values;
  for (const VariableRef &child : variables)
    child_values.push_back(child.compute->enqueue().item(child.item));
  for (const VariableRef &child : variables) child.compute->join_stream();
  if (state != State::ENQUEUED) {
    try {
      resident->evaluate(child_values, stream());
    } catch (const gpucoord::DeviceError &e) {
      error->all(FLERR, Error::NOLASTLINE, gpu_failure(name, e.what()));
    }
    state = State::ENQUEUED;
  }
  return resident->device_value();
}

// The host evaluates the expression to report at which values it is not finite. If the host result
// is finite, the atoms have moved since the GPU found the error.
void ComputeCoordCustom::raise_device_errors(bool has_moved, bool is_not_finite)
{
  for (const Below &one : variables_below()) {
    if (!one.custom)
      one.variable->raise_device_errors(has_moved, is_not_finite);
    else if (is_not_finite)
      one.custom->raise_not_finite();
  }
  if (is_not_finite) raise_not_finite();
}

void ComputeCoordCustom::raise_not_finite()
{
  board->evaluate_now(this, gpucoord::DERIVATIVES);
  error->all(FLERR, Error::NOLASTLINE,
             "{}: S = {} or a derivative of it was not finite in an earlier "
             "step, but must be - use an expression that is smooth at all values of its variables",
             name, text);
}

void ComputeCoordCustom::reneighbored(bool due)
{
  check_variables_below();
  for (const Below &one : below)
    if (!one.custom) one.variable->reneighbored(due);
}

void ComputeCoordCustom::finish(const double * /*sums*/)
{
  for (std::size_t k = 0; k < list.size(); ++k) values[k] = variables[k].value();
  const bool has_derivatives =
      wanted & (gpucoord::DERIVATIVES | gpucoord::VIRIAL | gpucoord::ATOM_VIRIAL);
  known_value = expression->evaluate(values.data(), has_derivatives ? derivatives.data() : nullptr);
  if (is_in_setup) {    // max() can hide a NaN
    for (const double value : values)
      if (!std::isfinite(value)) known_value = NAN;
    if (!std::isfinite(known_value)) return;
  }
  check_finite(has_derivatives);
  known_value = own_period.wrapped(known_value);
  state = State::HOST;
  set_rounding();
  if (must_print_value) print_value();
}

static std::string in_words(double number)
{
  return std::isnan(number) ? "not a number" : fmt::format("{}", number);
}

// The rounding errors of the children are weighted with the derivatives, if the host knows them.
void ComputeCoordCustom::set_rounding()
{
  double sum = 0.0;
  for (std::size_t k = 0; k < variables.size(); ++k)
    sum += std::fabs(derivatives[k]) * variables[k].compute->rounding() *
        std::max(1.0, std::fabs(values[k]));
  known_rounding =
      std::max(CollectiveVariable::rounding(), sum / std::max(1.0, std::fabs(known_value)));
}

double ComputeCoordCustom::rounding() const
{
  if (state == State::HOST) return known_rounding;
  double largest = CollectiveVariable::rounding();
  for (const Below &one : variables_below())
    if (!one.custom) largest = std::max(largest, one.variable->rounding());
  return largest;
}

// Raises the same error on all ranks, because all ranks have the same values.
void ComputeCoordCustom::check_finite(bool has_derivatives) const
{
  std::string problem;
  if (!std::isfinite(known_value))
    problem = fmt::format("S = {} is {}", text, in_words(known_value));
  for (std::size_t k = 0; k < list.size() && has_derivatives && problem.empty(); ++k)
    if (!std::isfinite(derivatives[k]))
      problem = fmt::format("the derivative of S = {} with respect to {} is {}", text, list[k].name,
                            in_words(derivatives[k]));
  if (problem.empty()) return;
  for (std::size_t k = 0; k < list.size(); ++k)
    problem += fmt::format("{} {} = {}", k ? "," : " at", list[k].name, values[k]);
  error->all(FLERR, Error::NOLASTLINE,
             "{}: {}, but must be finite - use an expression that is smooth "
             "at all values of its variables",
             name, problem);
}

void ComputeCoordCustom::add_forces(const gpucoord::ItemFactors &factors)
{
  if (state == State::ENQUEUED) {
    const gpucoord::Factor factor = factors.factor();
    try {
      resident->multiply({1.0, factor.device, factor.second}, stream());
    } catch (const gpucoord::DeviceError &e) {
      error->all(FLERR, Error::NOLASTLINE, gpu_failure(name, e.what()));
    }
    for_each_compute_on_device(variables, factor.host, resident->product(0),
                               [](CollectiveVariable *child, const gpucoord::ItemFactors &its) {
                                 child->add_forces(its);
                               });
    return;
  }
  for_each_below(factors.host_factor(),
                 [](CollectiveVariable *one, const gpucoord::ItemFactors &its) {
                   one->add_forces(its);
                 });
}

// Returns factor dS/dS_k for each value below this one that is no expression, and 0 for the
// expressions. Each expression passes on the sum of the factors of all its parents, so that the
// cost is linear if expressions share children.
std::vector<double> ComputeCoordCustom::factors_below(double factor) const
{
  const auto &all = variables_below();
  std::vector<double> factors(all.back().begin + all.back().variable->size(), 0.0);
  const auto pass_on = [&factors](double mine, const ComputeCoordCustom *parent,
                                  const std::vector<std::size_t> &places) {
    for (std::size_t k = 0; k < places.size(); ++k)
      if (parent->derivatives[k] != 0.0) factors[places[k]] += mine * parent->derivatives[k];
  };
  pass_on(factor, this, places_of_children);
  for (std::size_t k = all.size(); k-- > 0;) {
    if (!all[k].custom) continue;
    double &its_factor = factors[all[k].begin];
    if (its_factor != 0.0) pass_on(its_factor, all[k].custom, all[k].children);
    its_factor = 0.0;
  }
  return factors;
}

// Calls visit(CollectiveVariable *, ItemFactors) for each variable below this one that is no
// expression, unless all its factors are 0.
template <class Visit>
void ComputeCoordCustom::for_each_below(double factor, const Visit &visit) const
{
  const std::vector<double> factors = factors_below(factor);
  for (const Below &one : below) {
    gpucoord::ItemFactors its;
    its.on_host = &factors[one.begin];
    its.n = one.variable->size();
    if (std::any_of(its.on_host, its.on_host + its.n, [](double number) {
          return number != 0.0;
        }))
      visit(one.variable, its);
  }
}

void ComputeCoordCustom::add_virial(const gpucoord::ItemFactors &factors,
                                    double *virial_of_fix) const
{
  for_each_below(factors.host_factor(),
                 [&](const CollectiveVariable *one, const gpucoord::ItemFactors &its) {
                   one->add_virial(its, virial_of_fix);
                 });
}

void ComputeCoordCustom::add_atom_virial(const gpucoord::ItemFactors &factors, double **vatom) const
{
  for_each_below(factors.host_factor(),
                 [&](const CollectiveVariable *one, const gpucoord::ItemFactors &its) {
                   one->add_atom_virial(its, vatom);
                 });
}

void ComputeCoordCustom::add_gradients(const gpucoord::ItemFactors &factors, double **array,
                                       int first_column) const
{
  for_each_below(factors.host_factor(),
                 [&](const CollectiveVariable *one, const gpucoord::ItemFactors &its) {
                   one->add_gradients(its, array, first_column);
                 });
}

double ComputeCoordCustom::memory_usage()
{
  return CoordVariable::memory_usage() + (resident ? static_cast<double>(resident->bytes()) : 0.0);
}
