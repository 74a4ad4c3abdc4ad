// Part of GPUCOORD, GPL-2.0. Parses a function with Lepton, and avoids endless loops for
// expressions with NaN.
//
// Lepton's ParsedExpression::optimize() simplifies an expression until a pass does not change it.
// NaN differs from itself, so that the loop never ends for an expression with a NaN. A NaN can also
// appear in a derivative (log(-2) in the derivative of (-2)^x) or when constants are combined (inf
// 0). A check of the text therefore does not find every case. Instead, the expression is optimized
// as the argument of a custom operation, PassCounter. PassCounter changes nothing. It is compared
// with itself once per pass, which counts the passes.

#include "parsed_function.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <map>
#include <stdexcept>

namespace gpucoord {

namespace {

  using Lepton::ExpressionTreeNode;

  class PassCounter : public Lepton::Operation {
   public:
    explicit PassCounter(int &passes_left_in) : passes_left(passes_left_in) {}
    std::string getName() const override { return "pass counter"; }
    Id getId() const override { return CUSTOM; }    // optimize() does not change custom operations
    int getNumArguments() const override { return 1; }
    Operation *clone() const override { return new PassCounter(passes_left); }
    double evaluate(double *args, const std::map<std::string, double> &) const override
    {
      return args[0];
    }
    ExpressionTreeNode differentiate(const std::vector<ExpressionTreeNode> &,
                                     const std::vector<ExpressionTreeNode> &derivatives,
                                     const std::string &) const override
    {
      return derivatives[0];
    }
    bool operator!=(const Operation &other) const override
    {
      if (!dynamic_cast<const PassCounter *>(&other)) return true;
      if (--passes_left < 0) throw std::domain_error("a constant part of it is not a number");
      return false;
    }

   private:
    int &passes_left;
  };

  int number_of_nodes(const ExpressionTreeNode &node)
  {
    int n = 1;
    for (const auto &child : node.getChildren()) n += number_of_nodes(child);
    return n;
  }

  // The text of an expression before it is parsed. A named part counts at each place of its name,
  // because Lepton copies it there.
  struct TextLength {
    double length = 0.0;    // numbers, names and operations
    int depth = 0;          // of nested parentheses
  };

  bool is_operator(char c)
  {
    return std::string("+-*/^").find(c) != std::string::npos;
  }

  TextLength length_of_part(const std::string &text, const std::map<std::string, TextLength> &parts)
  {
    TextLength all;
    int depth = 0;
    for (std::size_t begin = 0, end = 1; begin < text.size(); begin = end, end = begin + 1) {
      const auto c = static_cast<unsigned char>(text[begin]);
      if (c == '(') all.depth = std::max(all.depth, ++depth);
      if (c == ')') --depth;
      if (c == '(' || c == ')' || c == ',' || std::isspace(c)) continue;
      TextLength one = {1.0, 0};
      if (!is_operator(text[begin])) {
        const bool is_number = c == '.' || std::isdigit(c);
        while (end < text.size() && text[end] != '(' && text[end] != ')' && text[end] != ',' &&
               !std::isspace(static_cast<unsigned char>(text[end])) &&
               (!is_operator(text[end]) ||
                (is_number && (text[end - 1] == 'e' || text[end - 1] == 'E'))))
          ++end;
        const auto part = parts.find(text.substr(begin, end - begin));
        if (part != parts.end()) one = part->second;
      }
      all.length += one.length;
      all.depth = std::max(all.depth, depth + one.depth);
    }
    return all;
  }

  // The parts are separated by ';', and each can contain the names of later ones.
  TextLength length_of_text(const std::string &text)
  {
    std::map<std::string, TextLength> parts;
    for (std::size_t end = text.size();;) {
      const auto separator = end ? text.rfind(';', end - 1) : std::string::npos;
      if (separator == std::string::npos) return length_of_part(text.substr(0, end), parts);
      const std::string part = text.substr(separator + 1, end - separator - 1);
      const auto equals = part.find('=');
      if (equals != std::string::npos) {
        std::string name = part.substr(0, equals);
        name.erase(std::remove_if(name.begin(), name.end(),
                                  [](unsigned char c) {
                                    return std::isspace(c);
                                  }),
                   name.end());
        parts[name] = length_of_part(part.substr(equals + 1), parts);
        if (parts[name].length > MAX_LENGTH) return parts[name];
      }
      end = separator;
    }
  }

  struct TreeLength {
    double length;        // number of nodes
    double derivative;    // estimated number of nodes of the derivative; 0: it is 0
  };

  // Follows the rules of Lepton's differentiate().
  TreeLength length_of_tree(const ExpressionTreeNode &node, const std::string &name)
  {
    using Id = Lepton::Operation;
    TreeLength all = {1.0, 0.0};
    const Lepton::Operation &operation = node.getOperation();
    if (operation.getId() == Id::VARIABLE) all.derivative = operation.getName() == name ? 1.0 : 0.0;
    std::vector<TreeLength> children;
    for (const auto &child : node.getChildren()) {
      children.push_back(length_of_tree(child, name));
      all.length += children.back().length;
      all.derivative += children.back().derivative;
    }
    if (all.derivative == 0.0 || children.empty()) return all;
    switch (operation.getId()) {
      case Id::ADD_CONSTANT:
        break;
      case Id::ADD:
        if (children[0].derivative > 0.0 && children[1].derivative > 0.0) all.derivative += 1.0;
        break;
      case Id::SUBTRACT:
        if (children[1].derivative > 0.0) all.derivative += 1.0;
        break;
      case Id::NEGATE:
      case Id::MULTIPLY_CONSTANT:
        all.derivative += 1.0;
        break;
      case Id::MULTIPLY:
        all.derivative += 3.0;
        if (children[0].derivative > 0.0) all.derivative += children[1].length;
        if (children[1].derivative > 0.0) all.derivative += children[0].length;
        break;
      default:
        all.derivative += 8.0 + (children.size() == 1 ? 1.0 : 3.0) * (all.length - 1.0);
    }
    return all;
  }

  std::string too_many(double value, int limit)
  {
    return (value < 1e9 ? std::to_string(static_cast<int>(value)) : "more than 1000000000") +
        " numbers, names and operations, but at most " + std::to_string(limit) + " are supported";
  }

}    // namespace

std::string bad_number(const std::string &text)
{
  const auto is_part_of_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  const auto is_sign_of_exponent = [&text](std::size_t at) {
    return (text[at] == '+' || text[at] == '-') && (text[at - 1] == 'e' || text[at - 1] == 'E');
  };
  for (std::size_t begin = 0, end = 1; begin < text.size(); begin = end, end = begin + 1) {
    const bool is_number = text[begin] == '.' ||
        std::isdigit(static_cast<unsigned char>(text[begin]));
    if (!is_number && !is_part_of_name(text[begin])) continue;
    while (end < text.size() &&
           (is_part_of_name(text[end]) ||
            (is_number && (text[end] == '.' || is_sign_of_exponent(end)))))
      ++end;
    if (!is_number) continue;
    const std::string word = text.substr(begin, end - begin);
    char *rest;
    const double value = std::strtod(word.c_str(), &rest);
    if (*rest) return "the bad number " + shortened(word) + " - write it like 1.5 or 2e-3";
    if (!std::isfinite(value))
      return "the number " + shortened(word) +
          ", but double precision ends at 1.8e308 - use a smaller number";
  }
  return "";
}

std::string shortened(const std::string &text)
{
  constexpr std::size_t MAX = 60;
  return text.size() > MAX ? text.substr(0, MAX) + "..." : text;
}

Lepton::ParsedExpression parsed(const std::string &text)
{
  const TextLength all = length_of_text(text);
  if (all.length > MAX_LENGTH)
    throw std::length_error("it has, with its named parts written out, " +
                            too_many(all.length, MAX_LENGTH) +
                            " - shorten it, or split it into several");
  if (all.depth > MAX_LENGTH)
    throw std::length_error("it has parentheses in parentheses, " + std::to_string(all.depth) +
                            " deep, but at most " + std::to_string(MAX_LENGTH) +
                            " are supported - leave out parentheses");
  return Lepton::Parser::parse(text);
}

void check_derivatives(const Lepton::ParsedExpression &value, const std::vector<std::string> &names)
{
  double squares = 0.0;
  for (const auto &name : names) {
    const double n = length_of_tree(value.getRootNode(), name).derivative;
    squares += n * n;
  }
  const double length = std::sqrt(squares);
  if (length <= MAX_DERIVATIVE_LENGTH) return;
  throw std::length_error("its derivatives have about " + too_many(length, MAX_DERIVATIVE_LENGTH) +
                          " - shorten products and functions of functions, or split it into "
                          "several");
}

Lepton::ParsedExpression optimized(const Lepton::ParsedExpression &parsed)
{
  const ExpressionTreeNode &root = parsed.getRootNode();
  // Each pass removes a node, simplifies an operation or moves a sign to the root. Few expressions
  // need more than five passes.
  int passes_left = 3 * number_of_nodes(root) + 10;
  const Lepton::ParsedExpression counted(ExpressionTreeNode(new PassCounter(passes_left), root));
  return Lepton::ParsedExpression(counted.optimize().getRootNode().getChildren()[0]);
}

ParsedFunction::ParsedFunction(const std::string &expression, const std::string &name) :
    value(optimized(parsed(expression)))
{
  check_derivatives(value, {name});
  try {
    derivative = optimized(value.differentiate(name));
  } catch (const std::domain_error &error) {
    throw std::domain_error(std::string("in its derivative ") + error.what());
  }
}

}    // namespace gpucoord
