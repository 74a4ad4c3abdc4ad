// Part of GPUCOORD, GPL-2.0. A library for LD_PRELOAD, for test_plumed_messages.py. Rank 0 prints
// the number of collective calls of MPI at MPI_Finalize(), counted by MPI's profiling interface.

#include <mpi.h>

#include <cstdio>

namespace {

long ncalls = 0;

}    // namespace

extern "C" {

int MPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
  ++ncalls;
  return PMPI_Bcast(buffer, n, type, root, comm);
}

int MPI_Reduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm)
{
  ++ncalls;
  return PMPI_Reduce(from, to, n, type, op, root, comm);
}

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
  ++ncalls;
  return PMPI_Allreduce(from, to, n, type, op, comm);
}

int MPI_Allgather(const void *from, int nfrom, MPI_Datatype type_from, void *to, int nto,
                  MPI_Datatype type_to, MPI_Comm comm)
{
  ++ncalls;
  return PMPI_Allgather(from, nfrom, type_from, to, nto, type_to, comm);
}

int MPI_Gatherv(const void *from, int nfrom, MPI_Datatype type_from, void *to, const int *nto,
                const int *begins, MPI_Datatype type_to, int root, MPI_Comm comm)
{
  ++ncalls;
  return PMPI_Gatherv(from, nfrom, type_from, to, nto, begins, type_to, root, comm);
}

int MPI_Barrier(MPI_Comm comm)
{
  ++ncalls;
  return PMPI_Barrier(comm);
}

int MPI_Finalize()
{
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::printf("collective calls: %ld\n", ncalls);
    std::fflush(stdout);
  }
  return PMPI_Finalize();
}
}
