# The order parameters, from order_parameters.def. Sets
#   order_sources       sources of their folders for all builds
#   order_kernels       those that are compiled for each instruction set
#   order_sources_cuda  those for CUDA
# and makes gpucoord_order_parameters.h in GPUCOORD_GENERATED_DIR, which includes all their headers.
set(list ${CMAKE_CURRENT_SOURCE_DIR}/include/gpucoord/order_parameters.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
file(STRINGS ${list} lines REGEX "^GPUCOORD_ORDER_PARAMETER\\(")
set(order_sources "")
set(headers "")
foreach(line ${lines})
  string(REGEX MATCH "\\(([A-Za-z0-9_]+), ([A-Za-z0-9_]+)," found "${line}")
  if(NOT found)
    message(FATAL_ERROR "a line of ${list} does not begin with the folder and the name of an order parameter: ${line}")
  endif()
  string(APPEND headers "#include \"gpucoord/${CMAKE_MATCH_2}.h\"\n")
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} src/order/${CMAKE_MATCH_1}/*.cpp
    src/order/${CMAKE_MATCH_1}/*.cu)
  if(NOT sources)
    message(FATAL_ERROR "src/order/${CMAKE_MATCH_1} has no sources, but ${list} names it: ${line}")
  endif()
  list(APPEND order_sources ${sources})
endforeach()
set(order_kernels ${order_sources})
list(FILTER order_kernels INCLUDE REGEX "_kernels_host\\.cpp$")
set(order_sources_cuda ${order_sources})
list(FILTER order_sources_cuda INCLUDE REGEX "\\.cu$")
list(FILTER order_sources EXCLUDE REGEX "_kernels_host\\.cpp$|\\.cu$")
file(CONFIGURE OUTPUT ${GPUCOORD_GENERATED_DIR}/gpucoord_order_parameters.h CONTENT "${headers}" @ONLY)
