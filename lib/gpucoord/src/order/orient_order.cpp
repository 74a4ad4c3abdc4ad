// Part of GPUCOORD, GPL-2.0. Options of order parameters.

#include "gpucoord/orient_order.h"

#include "orient_order_options.h"

#include "../switching/definition.h"

namespace gpucoord {

void check_options(const OrientOrderOptions &options)
{
  if (options.l < MIN_L || options.l > MAX_L)
    throw OrientOrderError("l",
                           "l is " + std::to_string(options.l) + " but must be " +
                               std::to_string(MIN_L) + " to " + std::to_string(MAX_L));
  if (options.order == OrderKind::CONNECTIONS) try {
      make_endless_switch(options.connection);
    } catch (const SwitchError &e) {
      throw OrientOrderError(e.field, e.what());
    }
  const AtomFunction function(options.function);
  if (options.order == OrderKind::GLOBAL && options.function.kind != AtomFunctionKind::SUM)
    throw OrientOrderError("function",
                           "order global has one value for all atoms, and function " +
                               function.description() +
                               " needs one for each atom - use order local");
}

std::string description(const OrientOrderOptions &options)
{
  static const char *const orders[] = {"local", "average", "dot", "connections", "global"};
  std::string text =
      "q" + std::to_string(options.l) + " " + orders[static_cast<int>(options.order)];
  if (options.order == OrderKind::CONNECTIONS)
    text += " " + make_endless_switch(options.connection).description();
  return text;
}

void check_groups(const OrientOrderOptions &options, const OrientOrderInput &in)
{
  if (in.cells.b.index && options.order != OrderKind::LOCAL && options.order != OrderKind::GLOBAL)
    throw std::invalid_argument("order average, dot and connections need q of all partners: two "
                                "groups are only supported by order local and global");
}

}    // namespace gpucoord
