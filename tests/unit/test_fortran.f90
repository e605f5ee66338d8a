! Every call of the module nsched, as a Fortran program has it. What the calls do is tested in C; here, that
! arguments and results arrive.
program test
  use, intrinsic :: iso_c_binding
  use nsched
  implicit none

  type(c_ptr) :: config, handle, thread
  type(nsched_stats_t) :: stats
  character(len=250) :: text, value
  character(len=16) :: name
  real(c_double), target :: memory(4096)
  integer :: failed, code

  failed = 0
  memory = 1
  call check(nsched_version() >= 100, 'the version')
  text = 'untouched'
  code = nsched_worthwhile(text)
  call check(code == 0 .or. code == 1, 'worthwhile')
  if (code == 0) call check(index(text, 'NUMA node') > 0, 'why it is not worthwhile')
  call check(nsched_worthwhile() == code, 'worthwhile without a text')

  ! options, and texts in both directions
  call check(nsched_config_create(config) == 0, 'options')
  name = 'policy'
  call check(nsched_config_set(config, name, 'stay  ') == 0, 'an option with blanks behind it')
  call check(nsched_config_get(config, 'policy', value) == 4 .and. value == 'stay', 'an option is read')
  call check(nsched_config_set(config, 'policy', 'jiont', text) < 0, 'a wrong value')
  call check(index(text, 'did you mean joint?') > 0, 'a wrong value is named')
  call check(nsched_config_set(config, 'interval_ms', '200') == 0, 'a number')
  call check(nsched_config_get(config, 'interval_ms', value) == 3 .and. value == '200', 'a number is read')
  call check(nsched_config_get(config, 'no such', value) < 0, 'no such option')
  call check(nsched_config_get(config, 'policy', name(1:2)) == 4 .and. name(1:2) == 'st', 'a text that is too short for it')
  text = 'x'
  call check(nsched_config_environment(config, text) == 0, 'the environment: '//trim(text))

  ! the scheduler
  call check(nsched_open(handle, config) == 0 .and. c_associated(handle), 'open')
  call nsched_config_destroy(config)
  call check(nsched_mem_attach(handle, 'memory  ', c_loc(memory), 4096_c_size_t * 8) == 0, 'memory gets a name')
  call check(nsched_mem_attach(handle, 'again', c_loc(memory), 8_c_size_t) == -17, 'memory that has one (EEXIST)')
  call check(nsched_thread_register(handle, thread) == 0 .and. c_associated(thread), 'a thread is known')
  call check(nsched_mem_hint(handle, thread, c_loc(memory), 8_c_size_t, 1000_c_int64_t) == 0, 'a hint')
  call check(nsched_mem_hint(handle, thread, c_loc(memory), 40000_c_size_t, 1000_c_int64_t) == -2, 'beyond its end (ENOENT)')
  call nsched_region_begin(thread, c_loc(memory))
  code = nsched_thread_place(thread)
  call check(code == 0 .or. code == 1, 'place')
  call nsched_region_end(thread)
  call check(nsched_step(handle) >= 0, 'a step')
  call check(nsched_stats(handle, stats) == 0, 'figures')
  call check(stats%bytes == 72 .and. stats%nodes >= 1 .and. stats%nodes <= 64, 'figures arrive where they belong')
  call check(stats%local_permille >= 0 .and. stats%local_permille <= 1001, 'the last of them')
  call check(nsched_report(handle, 'test_fortran.report.txt ') == 0, 'a report')
  call check(has('test_fortran.report.txt', 'nsched 0'), 'what is in it')
  call nsched_thread_unregister(thread)
  call check(nsched_mem_detach(handle, c_loc(memory)) == 0, 'memory is forgotten')
  call check(nsched_start(handle) <= 0, 'start')
  call check(nsched_close(handle) == 0, 'close')
  call check(nsched_open(handle) == 0, 'open without options')
  call check(nsched_close(handle) == 0, 'close again')
  call check(nsched_close(handle) == -22, 'once too often (EINVAL)')
  print '(i0, a)', failed, ' failed'
  if (failed > 0) error stop

contains
  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: what

    if (holds) return
    print '(2a)', 'FAILED: ', what
    failed = failed + 1
  end subroutine

  logical function has(file, words)
    character(len=*), intent(in) :: file, words
    character(len=120) :: line
    integer :: unit

    open (newunit=unit, file=file, status='old')
    read (unit, '(a)') line
    has = index(line, words) > 0
    close (unit, status='delete')
  end function
end program
