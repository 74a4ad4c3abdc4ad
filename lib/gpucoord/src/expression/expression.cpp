// Part of GPUCOORD, GPL-2.0. An expression of named variables, on the host.

#include "gpucoord/expression.h"

#include "parsed_function.h"

#include "../core/text_files.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <exception>
#include <map>
#include <stdexcept>

namespace gpucoord {

namespace {

  bool is_part_of_name(char c)
  {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  }

  void find_names(const Lepton::ExpressionTreeNode &node, std::vector<std::string> &names)
  {
    if (node.getOperation().getId() == Lepton::Operation::VARIABLE)
      names.push_back(node.getOperation().getName());
    for (const auto &child : node.getChildren()) find_names(child, names);
  }

  // Returns why Lepton cannot parse the text, without the copy of the text in its message.
  std::string reason(const std::exception &error, const std::string &text)
  {
    const std::string why = error.what(), prefix = "Parse error in expression \"" + text + "\": ";
    return why.compare(0, prefix.size(), prefix) == 0 ? why.substr(prefix.size()) : why;
  }

  // Returns the position, from 1, at which a name first occurs as a whole word in the text.
  std::size_t position_of(const std::string &name, const std::string &text)
  {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const auto end = at + name.size();
      if ((at == 0 || !is_part_of_name(text[at - 1])) &&
          (end == text.size() || !is_part_of_name(text[end])))
        return at + 1;
    }
    return text.find(name) + 1;
  }

  bool contains(const std::vector<std::string> &names, const std::string &name)
  {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

}    // namespace

struct Expression::Programs {
  Lepton::CompiledExpression value;
  std::vector<Lepton::CompiledExpression> derivatives;
  std::vector<double> values;    // the programs read the values of the names from here
};

bool Expression::is_name(const std::string &word)
{
  return !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0])) &&
      std::all_of(word.begin(), word.end(), is_part_of_name);
}

Expression::Expression(const std::string &text, const std::vector<std::string> &names) :
    programs(std::make_unique<Programs>())
{
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (!is_name(names[k]))
      throw ExpressionError(names[k],
                            "'" + names[k] +
                                "' is not a name - use letters, digits and _, and no digit first");
    if (std::find(names.begin(), names.begin() + k, names[k]) != names.begin() + k)
      throw ExpressionError(names[k],
                            "the name " + names[k] + " is given twice - give each name once");
  }
  const std::string quoted = "the expression '" + text + "'";
  const std::string why = bad_number(text);
  if (!why.empty()) throw ExpressionError("", quoted + " has " + why);
  std::vector<std::string> used;
  Lepton::ParsedExpression tree;
  const auto too_long = [&text](const std::length_error &error) {
    return ExpressionError("",
                           "the expression '" + shortened(text) + "' is too long: " + error.what());
  };
  try {
    tree = parsed(text);
    find_names(tree.getRootNode(), used);
  } catch (const std::length_error &error) {
    throw too_long(error);
  } catch (const std::exception &error) {
    throw ExpressionError("",
                          quoted + " cannot be parsed: " + reason(error, text) + " - write it in " +
                              joined(names, 0, ", ") +
                              " with + - * / ^ ( ) and functions such as exp()");
  }
  for (const auto &name : used)
    if (!contains(names, name))
      throw ExpressionError(name,
                            quoted + " has the unknown name " + name + " at character " +
                                std::to_string(position_of(name, text)) + " - known are " +
                                joined(names, 0, ", "));
  for (const auto &name : names)
    if (!contains(used, name))
      throw ExpressionError(
          name, quoted + " does not use the name " + name + " - leave out the name, or use it");

  programs->values.resize(names.size());
  programs->derivatives.resize(names.size());
  std::map<std::string, double *> locations;
  for (std::size_t k = 0; k < names.size(); ++k) locations[names[k]] = &programs->values[k];
  std::string part;
  try {
    const Lepton::ParsedExpression value = optimized(tree);
    check_derivatives(value, names);
    programs->value = value.createCompiledExpression();
    programs->value.setVariableLocations(locations);
    for (std::size_t k = 0; k < names.size(); ++k) {
      part = "in its derivative with respect to " + names[k] + " ";
      programs->derivatives[k] =
          optimized(value.differentiate(names[k])).createCompiledExpression();
      programs->derivatives[k].setVariableLocations(locations);
    }
  } catch (const std::length_error &error) {
    throw too_long(error);
  } catch (const std::exception &error) {
    throw ExpressionError("",
                          quoted + " cannot be used: " + part + error.what() +
                              " - use only finite constants, for example no 0/0 or sqrt(-1)");
  }
}

Expression::~Expression() = default;

double Expression::evaluate(const double *values, double *derivatives)
{
  std::copy_n(values, programs->values.size(), programs->values.begin());
  if (derivatives)
    for (const auto &program : programs->derivatives) *derivatives++ = program.evaluate();
  return programs->value.evaluate();
}

}    // namespace gpucoord
