! The same calls through each of Fortran's bindings: mpif.h (BINDING 1), use mpi (2), use mpi_f08 (3).
! What each of them calls inside the library differs; each call must count once. The counts are known: 3 for
! most, and 7 integers to the next rank each time.
program bindings
#if BINDING == 3
  use mpi_f08
  implicit none
  type(MPI_Comm) :: comm, half
  type(MPI_Request) :: request(2)
  type(MPI_Status) :: status, statuses(2)
#else
#if BINDING == 2
  use mpi
  implicit none
#else
  implicit none
  include 'mpif.h'
#endif
  integer :: comm, half, request(2), status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 2)
#endif
  integer, parameter :: n = 7
  integer :: code, me, ranks, next, previous, i
  integer :: out(n), in(n), many(100 * n), counts(100), displacements(100)

  call MPI_Init(code)
  comm = MPI_COMM_WORLD
  call MPI_Comm_rank(comm, me, code)
  call MPI_Comm_size(comm, ranks, code)
  next = mod(me + 1, ranks)
  previous = mod(me + ranks - 1, ranks)
  out = me
  do i = 1, ranks
    counts(i) = n
    displacements(i) = n * (i - 1)
  end do
  do i = 1, 3
    call MPI_Irecv(in, n, MPI_INTEGER, previous, 1, comm, request(1), code)
    call MPI_Send(out, n, MPI_INTEGER, next, 1, comm, code)
    call MPI_Wait(request(1), status, code)
    call MPI_Isend(out, n, MPI_INTEGER, next, 1, comm, request(1), code)
    call MPI_Recv(in, n, MPI_INTEGER, previous, 1, comm, status, code)
    call MPI_Wait(request(1), status, code)
    call MPI_Sendrecv(out, n, MPI_INTEGER, next, 1, in, n, MPI_INTEGER, previous, 1, comm, status, code)
    call MPI_Bcast(out, n, MPI_INTEGER, 0, comm, code)
    call MPI_Reduce(out, in, n, MPI_INTEGER, MPI_SUM, 0, comm, code)
    call MPI_Allreduce(MPI_IN_PLACE, in, n, MPI_INTEGER, MPI_SUM, comm, code)
    call MPI_Allgatherv(out, n, MPI_INTEGER, many, counts, displacements, MPI_INTEGER, comm, code)
    call MPI_Barrier(comm, code)
    call MPI_Comm_split(comm, mod(me, 2), me, half, code)
    call MPI_Comm_free(half, code)
  end do
  call MPI_Send_init(out, n, MPI_INTEGER, next, 1, comm, request(1), code)
  call MPI_Recv_init(in, n, MPI_INTEGER, previous, 1, comm, request(2), code)
  do i = 1, 3
    call MPI_Startall(2, request, code)
    call MPI_Waitall(2, request, statuses, code)
  end do
  call MPI_Request_free(request(1), code)
  call MPI_Request_free(request(2), code)
  call MPI_Finalize(code)
end program bindings
