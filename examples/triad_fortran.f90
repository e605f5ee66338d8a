! STREAM's triad in Fortran, by a program that says who uses what: see capi.c for the same in C.
!
!     gfortran -O2 -fopenmp triad_fortran.f90 $(pkg-config --cflags --libs nsched-fortran) -o triad_fortran
!     ./triad_fortran [SECONDS [PERMILLE]]
!
! The main thread fills all arrays, so that all memory is on its NUMA node. Without nsched it stays there. With
! PERMILLE, it fails if less of what was hinted at is local at the end (on one node there is nothing to be wrong).
program triad
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use nsched
  implicit none

  integer, parameter :: n = 3 * 1048576, step_every = 16
  integer(c_int64_t), parameter :: bytes_per_s = 2000000000_c_int64_t ! about what one thread moves
  integer(c_size_t), parameter :: real_bytes = 8
  real(c_double), allocatable, target :: a(:), b(:), c(:)
  type(c_ptr) :: handle, thread
  type(nsched_stats_t) :: stats
  real(c_double) :: scale, seconds
  integer(c_int64_t) :: begin, now, rate
  integer :: i, first, last, pass, permille, code
  logical :: goes_on

  seconds = 5
  permille = 0
  call take_arguments()
  allocate (a(n), b(n), c(n))
  a = 0
  b = 1
  c = 2
  call say(nsched_open(handle), 'opening it')
  call say(nsched_mem_attach(handle, 'a', c_loc(a), n * real_bytes), 'naming an array')
  call say(nsched_mem_attach(handle, 'b', c_loc(b), n * real_bytes), 'naming an array')
  call say(nsched_mem_attach(handle, 'c', c_loc(c), n * real_bytes), 'naming an array')

  call system_clock(begin, rate)
  goes_on = .true.
  pass = 0
  scale = 0
  !$omp parallel private(thread, first, last)
  call part(first, last)
  thread = c_null_ptr
  call say(nsched_thread_register(handle, thread), 'registering a thread')
  call hint(thread, a(first:last))
  call hint(thread, b(first:last))
  call hint(thread, c(first:last))
  do while (goes_on)
    code = nsched_thread_place(thread) ! a good moment to follow the plan
    !$omp do schedule(static)
    do i = 1, n
      a(i) = b(i) + scale * c(i)
    end do
    !$omp end do
    !$omp master
    call system_clock(now)
    goes_on = real(now - begin, c_double) / real(rate, c_double) < seconds
    if (goes_on) scale = scale + 1
    pass = pass + 1
    if (mod(pass, step_every) == 1) code = nsched_step(handle) ! -EBUSY where a helper thread does it
    !$omp end master
    !$omp barrier
  end do
  call nsched_thread_unregister(thread)
  !$omp end parallel

  call say(nsched_stats(handle, stats), 'its figures')
  print '(i0, a, i0, a, i0, a, f0.1, a)', pass, ' passes on ', stats%nodes, ' nodes, moved ', stats%thread_moves, &
    ' threads and ', real(stats%moved_bytes) / 1048576, ' MiB'
  if (stats%local_permille <= 1000) print '(a, f0.1, a)', 'local traffic ', stats%local_permille / 10.0, ' %'
  call say(nsched_close(handle), 'closing it')
  if (any(abs(a - (1 + scale * 2)) > 0)) error stop 'the result is wrong'
  if (stats%active == 1 .and. stats%local_permille < permille) error stop 'too little is local'

contains
  ! Nothing here may fail the program: without nsched it runs as it would without it.
  subroutine say(result, what)
    integer(c_int), intent(in) :: result
    character(len=*), intent(in) :: what

    if (result < 0) write (error_unit, '(3a, i0, a)') 'nsched: ', what, ' did not work (', result, '); going on without'
  end subroutine

  ! The rows of schedule(static) that this thread has.
  subroutine part(first, last)
    integer, intent(out) :: first, last
    integer :: k

    first = n + 1
    last = 0
    !$omp do schedule(static)
    do k = 1, n
      first = min(first, k)
      last = max(last, k)
    end do
    !$omp end do
  end subroutine

  subroutine hint(thread, mine)
    type(c_ptr), intent(in) :: thread
    real(c_double), intent(in), target, contiguous :: mine(:)

    call say(nsched_mem_hint(handle, thread, c_loc(mine), size(mine) * real_bytes, bytes_per_s), 'saying who uses what')
  end subroutine

  subroutine take_arguments()
    character(len=32) :: word

    if (command_argument_count() >= 1) then
      call get_command_argument(1, word)
      read (word, *) seconds
    end if
    if (command_argument_count() >= 2) then
      call get_command_argument(2, word)
      read (word, *) permille
    end if
  end subroutine
end program
