# Enables CUDA for lib/gpucoord, or chooses the host backend alone. enable_language() requires that a
# project includes this file at its top level.
#   GPUCOORD_CUDA                AUTO: CUDA if nvcc is usable and there is a GPU, or if GPU
#                                architectures are given, or Kokkos is for CUDA; ON: requires nvcc; OFF
#   GPUCOORD_CUDA_ARCHITECTURES  like CMAKE_CUDA_ARCHITECTURES; empty: those of the GPUs of this
#                                machine or, without a GPU and with ON, common ones
# Sets GPUCOORD_USE_CUDA, and for scripts GPUCOORD_CUDA_BACKEND in the cache.
set(GPUCOORD_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (with nvcc, for a GPU here or given architectures), ON or OFF")
set_property(CACHE GPUCOORD_CUDA PROPERTY STRINGS AUTO ON OFF)
set(GPUCOORD_CUDA_ARCHITECTURES "" CACHE STRING "GPU architectures to build for; empty: of the GPUs here or, if there are none and GPUCOORD_CUDA is ON, common ones")
set(GPUCOORD_OLDEST_CUDA 12.0)

# Architectures of this machine's GPUs, such as 90; empty without a GPU.
function(gpucoord_find_gpus result)
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    set(found "")
  endif()
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" found "${found}")
  string(REPLACE "." "" found "${found}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Architectures of this machine's GPUs that nvcc knows, or common ones without a GPU.
function(gpucoord_choose_architectures nvcc result)
  execute_process(COMMAND ${nvcc} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  gpucoord_find_gpus(wanted)
  if(NOT wanted)
    set(wanted 75 80 90 100 120)
  endif()
  list(REMOVE_DUPLICATES wanted)
  set(chosen "")
  foreach(architecture ${wanted})
    if(known MATCHES "compute_${architecture}[^0-9]")
      list(APPEND chosen ${architecture}-real)
      set(last ${architecture})
    endif()
  endforeach()
  if(chosen)
    list(APPEND chosen ${last}-virtual)  # PTX for newer GPUs
  endif()
  set(${result} "${chosen}" PARENT_SCOPE)
endfunction()

# Sets the reason why there is no CUDA backend, or an empty string. This is a macro because CUDA is
# enabled in the scope of the caller.
macro(gpucoord_enable_cuda reason)
  set(${reason} "")
  include(CheckLanguage)
  if(GPUCOORD_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES ${GPUCOORD_CUDA_ARCHITECTURES})
  endif()
  # Repeat a search that failed: nvcc may have been installed in the meantime.
  if(NOT CMAKE_CUDA_COMPILER)
    unset(CMAKE_CUDA_COMPILER CACHE)
    unset(GPUCOORD_NVCC CACHE)
  endif()
  if(NOT DEFINED ENV{CUDACXX})
    find_program(GPUCOORD_NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(GPUCOORD_NVCC)
    if(GPUCOORD_NVCC)
      set(ENV{CUDACXX} ${GPUCOORD_NVCC})
    endif()
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES AND DEFINED ENV{CUDACXX})
    gpucoord_choose_architectures($ENV{CUDACXX} CMAKE_CUDA_ARCHITECTURES)
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      set(${reason} "$ENV{CUDACXX} does not run, or knows none of the GPUs here")
    endif()
  endif()
  if(NOT ${reason})
    check_language(CUDA)
    if(NOT CMAKE_CUDA_COMPILER)
      set(${reason} "there is no nvcc that works: put it on the PATH or set CUDACXX")
    else()
      set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)  # one for the whole process
      enable_language(CUDA)
      if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS GPUCOORD_OLDEST_CUDA)
        set(${reason} "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is older than ${GPUCOORD_OLDEST_CUDA}")
      endif()
    endif()
  endif()
endmacro()

string(TOUPPER "${GPUCOORD_CUDA}" GPUCOORD_CUDA_WANTED)
set(GPUCOORD_USE_CUDA OFF)
gpucoord_find_gpus(GPUCOORD_GPUS)
if(GPUCOORD_CUDA_WANTED STREQUAL "AUTO" AND NOT GPUCOORD_GPUS AND NOT GPUCOORD_CUDA_ARCHITECTURES
    AND NOT CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS} AND NOT Kokkos_ENABLE_CUDA)
  # Kernels for all common GPUs take an hour on two cores, and nothing here could run them.
  message(STATUS "GPUCOORD: the host backend alone, there is no GPU here. To build for the GPUs of a cluster, set "
    "GPUCOORD_CUDA_ARCHITECTURES, such as 90 for H100 and H200. This needs nvcc, and about 20 minutes more on two cores")
elseif(GPUCOORD_CUDA_WANTED MATCHES "^(AUTO|ON|YES|TRUE|1)$")
  gpucoord_enable_cuda(GPUCOORD_NO_CUDA)
  if(NOT GPUCOORD_NO_CUDA)
    set(GPUCOORD_USE_CUDA ON)
    message(STATUS "GPUCOORD: CUDA backend by ${CMAKE_CUDA_COMPILER} for ${CMAKE_CUDA_ARCHITECTURES}")
  elseif(GPUCOORD_CUDA_WANTED STREQUAL "AUTO" AND NOT GPUCOORD_CUDA_ARCHITECTURES)
    message(STATUS "GPUCOORD: the host backend alone, ${GPUCOORD_NO_CUDA}")
  else()
    message(FATAL_ERROR "GPUCOORD_CUDA is ${GPUCOORD_CUDA} and GPUCOORD_CUDA_ARCHITECTURES is "
      "'${GPUCOORD_CUDA_ARCHITECTURES}', but ${GPUCOORD_NO_CUDA}; GPUCOORD_CUDA=OFF builds without CUDA")
  endif()
elseif(GPUCOORD_CUDA_WANTED MATCHES "^(OFF|NO|FALSE|0)$")
  message(STATUS "GPUCOORD: the host backend alone, GPUCOORD_CUDA is ${GPUCOORD_CUDA}")
  if(GPUCOORD_CUDA_ARCHITECTURES)
    message(WARNING "GPUCOORD_CUDA_ARCHITECTURES ${GPUCOORD_CUDA_ARCHITECTURES} is ignored, because GPUCOORD_CUDA is "
      "${GPUCOORD_CUDA}: give GPUCOORD_CUDA=AUTO")
  endif()
else()
  message(FATAL_ERROR "GPUCOORD_CUDA is '${GPUCOORD_CUDA}': give AUTO, ON or OFF")
endif()
set(GPUCOORD_CUDA_BACKEND ${GPUCOORD_USE_CUDA} CACHE INTERNAL "whether this build has the CUDA backend")
