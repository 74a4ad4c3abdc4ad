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

}    // namespace

Lepton::ParsedExpression optimized(const Lepton::ParsedExpression &parsed)
{
  const ExpressionTreeNode &root = parsed.getRootNode();
  // Each pass removes a node, simplifies an operation or moves a sign to the root. Few expressions
  // need more than five passes.
  int passes_left = 3 * number_of_nodes(root) + 10;
  const Lepton::ParsedExpression counted(ExpressionTreeNode(new PassCounter(passes_left), root));
  return Lepton::ParsedExpression(counted.optimize().getRootNode().getChildren()[0]);
}

ParsedFunction::ParsedFunction(const std::string &expression) :
    value(optimized(Lepton::Parser::parse(expression)))
{
  try {
    derivative = optimized(value.differentiate("x"));
  } catch (const std::domain_error &error) {
    throw std::domain_error(std::string("in its derivative ") + error.what());
  }
}

}    // namespace gpucoord
