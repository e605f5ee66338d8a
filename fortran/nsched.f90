! nsched from Fortran: the calls of nsched.h under their own names. That header has the contracts; what is
! different here:
!  - handles are type(c_ptr); addresses are what c_loc gives of a target; sizes are integer(c_size_t), in bytes;
!  - texts are ordinary character(*): trailing blanks do not count;
!  - every function returns what the C call returns: 0 or a count, or a negated errno value.
!
! Module files hold for one compiler only. With another than nsched was built with, compile this file beside
! your own and link with -lnsched; nothing else of Fortran is needed.
module nsched
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_int32_t, c_int64_t, c_loc, c_null_char, c_null_ptr, c_ptr, c_size_t
  implicit none
  private

  public :: nsched_version, nsched_worthwhile
  public :: nsched_config_create, nsched_config_destroy, nsched_config_set, nsched_config_environment, nsched_config_get
  public :: nsched_open, nsched_close, nsched_start, nsched_step
  public :: nsched_thread_register, nsched_thread_unregister, nsched_thread_place, nsched_region_begin, nsched_region_end
  public :: nsched_mem_attach, nsched_mem_detach, nsched_mem_hint
  public :: nsched_stats_t, nsched_stats, nsched_report

  integer, parameter :: error_bytes = 200 ! of nsched_error_t
  integer, parameter :: value_bytes = 512 ! more than an option's value has

  ! As in C; nsched_stats sets `bytes`.
  type, bind(c) :: nsched_stats_t
    integer(c_size_t) :: bytes = 0
    integer(c_int32_t) :: active = 0
    integer(c_int32_t) :: nodes = 0
    integer(c_int32_t) :: threads = 0
    integer(c_int32_t) :: steps = 0
    integer(c_int64_t) :: samples = 0
    integer(c_int64_t) :: thread_moves = 0
    integer(c_int64_t) :: moved_bytes = 0
    integer(c_int64_t) :: failed_moves = 0
    integer(c_int64_t) :: reverts = 0
    integer(c_int32_t) :: local_permille = 0
    integer(c_int32_t) :: overhead_permille = 0
  end type

  ! ---- calls without texts: C's own ------------------------------------------------------------------
  interface
    function nsched_version() bind(c) result(version)
      import :: c_int
      integer(c_int) :: version
    end function

    function nsched_config_create(config) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: config
      integer(c_int) :: code
    end function

    subroutine nsched_config_destroy(config) bind(c)
      import :: c_ptr
      type(c_ptr), value :: config
    end subroutine

    function nsched_close(handle) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int) :: code
    end function

    function nsched_start(handle) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int) :: code
    end function

    function nsched_step(handle) bind(c) result(moves)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      integer(c_int) :: moves
    end function

    function nsched_thread_register(handle, thread) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle
      type(c_ptr), intent(out) :: thread
      integer(c_int) :: code
    end function

    subroutine nsched_thread_unregister(thread) bind(c)
      import :: c_ptr
      type(c_ptr), value :: thread
    end subroutine

    function nsched_thread_place(thread) bind(c) result(bound)
      import :: c_int, c_ptr
      type(c_ptr), value :: thread
      integer(c_int) :: bound
    end function

    ! `key` tells regions apart: any address, for instance c_loc of a variable of the region's own
    subroutine nsched_region_begin(thread, key) bind(c)
      import :: c_ptr
      type(c_ptr), value :: thread, key
    end subroutine

    subroutine nsched_region_end(thread) bind(c)
      import :: c_ptr
      type(c_ptr), value :: thread
    end subroutine

    function nsched_mem_detach(handle, address) bind(c) result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: handle, address
      integer(c_int) :: code
    end function

    function nsched_mem_hint(handle, thread, address, bytes, bytes_per_s) bind(c) result(code)
      import :: c_int, c_int64_t, c_ptr, c_size_t
      type(c_ptr), value :: handle, thread, address
      integer(c_size_t), value :: bytes
      integer(c_int64_t), value :: bytes_per_s
      integer(c_int) :: code
    end function
  end interface

  ! ---- calls with texts, or with arguments that may be left out: behind the functions below ---------------
  interface
    function c_worthwhile(why) bind(c, name="nsched_worthwhile") result(yes)
      import :: c_int, c_ptr
      type(c_ptr), value :: why
      integer(c_int) :: yes
    end function

    function c_config_set(config, name, value, error) bind(c, name="nsched_config_set") result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: config, error
      character(kind=c_char), intent(in) :: name(*), value(*)
      integer(c_int) :: code
    end function

    function c_config_environment(config, error) bind(c, name="nsched_config_environment") result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: config, error
      integer(c_int) :: code
    end function

    function c_config_get(config, name, value, bytes) bind(c, name="nsched_config_get") result(length)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: config
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(out) :: value(*)
      integer(c_size_t), value :: bytes
      integer(c_int) :: length
    end function

    function c_open(config, handle) bind(c, name="nsched_open") result(code)
      import :: c_int, c_ptr
      type(c_ptr), value :: config
      type(c_ptr), intent(out) :: handle
      integer(c_int) :: code
    end function

    function c_mem_attach(handle, name, address, bytes) bind(c, name="nsched_mem_attach") result(code)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: handle, address
      character(kind=c_char), intent(in) :: name(*)
      integer(c_size_t), value :: bytes
      integer(c_int) :: code
    end function

    function c_stats(handle, stats) bind(c, name="nsched_stats") result(code)
      import :: c_int, c_ptr, nsched_stats_t
      type(c_ptr), value :: handle
      type(nsched_stats_t), intent(inout) :: stats
      integer(c_int) :: code
    end function

    function c_report(handle, file) bind(c, name="nsched_report") result(code)
      import :: c_char, c_int, c_ptr
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: file(*)
      integer(c_int) :: code
    end function
  end interface

contains
  ! A C text, up to its zero, into a Fortran one.
  subroutine take_text(from, to)
    character(kind=c_char), intent(in) :: from(:)
    character(len=*), intent(out) :: to
    integer :: i

    to = ' '
    do i = 1, min(len(to), size(from))
      if (from(i) == c_null_char) exit
      to(i:i) = from(i)
    end do
  end subroutine

  function nsched_worthwhile(why) result(yes)
    character(len=*), intent(out), optional :: why
    integer(c_int) :: yes
    character(kind=c_char), target :: text(error_bytes)

    text = c_null_char
    yes = c_worthwhile(c_loc(text))
    if (present(why)) call take_text(text, why)
  end function

  function nsched_config_set(config, name, value, error) result(code)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: name, value
    character(len=*), intent(out), optional :: error
    integer(c_int) :: code
    character(kind=c_char), target :: text(error_bytes)

    text = c_null_char
    code = c_config_set(config, trim(name)//c_null_char, trim(value)//c_null_char, c_loc(text))
    if (present(error)) call take_text(text, error)
  end function

  function nsched_config_environment(config, error) result(code)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(out), optional :: error
    integer(c_int) :: code
    character(kind=c_char), target :: text(error_bytes)

    text = c_null_char
    code = c_config_environment(config, c_loc(text))
    if (present(error)) call take_text(text, error)
  end function

  function nsched_config_get(config, name, value) result(length)
    type(c_ptr), intent(in) :: config
    character(len=*), intent(in) :: name
    character(len=*), intent(out) :: value
    integer(c_int) :: length
    character(kind=c_char) :: text(value_bytes)

    text = c_null_char
    length = c_config_get(config, trim(name)//c_null_char, text, int(value_bytes, c_size_t))
    call take_text(text, value)
  end function

  ! Without `config`: defaults and environment.
  function nsched_open(handle, config) result(code)
    type(c_ptr), intent(out) :: handle
    type(c_ptr), intent(in), optional :: config
    integer(c_int) :: code

    handle = c_null_ptr
    if (present(config)) then
      code = c_open(config, handle)
    else
      code = c_open(c_null_ptr, handle)
    end if
  end function

  function nsched_mem_attach(handle, name, address, bytes) result(code)
    type(c_ptr), intent(in) :: handle, address
    character(len=*), intent(in) :: name
    integer(c_size_t), intent(in) :: bytes
    integer(c_int) :: code

    code = c_mem_attach(handle, trim(name)//c_null_char, address, bytes)
  end function

  function nsched_stats(handle, stats) result(code)
    type(c_ptr), intent(in) :: handle
    type(nsched_stats_t), intent(out) :: stats
    integer(c_int) :: code

    stats%bytes = storage_size(stats, c_size_t) / 8
    code = c_stats(handle, stats)
  end function

  function nsched_report(handle, file) result(code)
    type(c_ptr), intent(in) :: handle
    character(len=*), intent(in) :: file
    integer(c_int) :: code

    code = c_report(handle, trim(file)//c_null_char)
  end function
end module
