#!/bin/sh
# `make install`, into a folder that is not the prefix: what is there, and that the tool, the preload, the
# plugin and the core find each other.
. "${srcdir:-.}/tests/tools/harness.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL
if ! ${MAKE:-make} -s install DESTDIR="$work/moved" >"$work/log" 2>&1; then
	cat "$work/log"
	exit 99
fi
root=$(dirname "$(dirname "$(find "$work/moved" -name nsched -path '*/bin/*')")")
holds 'the tool' "$("$root/bin/nsched" --version)" 'nsched '
for file in include/nsched.h share/man/man1/nsched.1; do
	same "$file is installed" yes "$([ -f "$root/$file" ] && echo yes)"
done

# the preload finds the core: its report says something
"$root/bin/nsched" run --report="$work/report.txt" "$(built tests/tools/victim)" threads 1
same 'the program ran' 0 $?
holds 'the report' "$(cat "$work/report.txt")" 'nsched 0.'

# the plugin finds the core: LLVM's runtime can be made to tell
if [ -x examples/triad ]; then
	said=$(OMP_TOOL_VERBOSE_INIT=stderr "$root/bin/nsched" run examples/triad -m 1 -s 0.1 2>&1)
	holds 'the plugin is loaded' "$(echo "$said" | grep '^Opening .*/libnsched_ompt.so')" 'Success'
fi

# a program is built with what is installed
if command -v pkg-config >/dev/null; then
	PKG_CONFIG_PATH=$(dirname "$(find "$root" -name nsched.pc)")
	export PKG_CONFIG_PATH
	printf '#include <nsched.h>\nint main(void) { return nsched_version() != NSCHED_VERSION; }\n' >"$work/program.c"
	# shellcheck disable=SC2046
	${CC:-cc} "$work/program.c" -o "$work/program" $(PKG_CONFIG_SYSROOT_DIR=$work/moved pkg-config --cflags --libs nsched) \
		-Wl,-rpath,"$(dirname "$PKG_CONFIG_PATH")"
	same 'a program is built' 0 $?
	"$work/program"
	same 'a program runs' 0 $?
fi

# Fortran, where this build has it: by the installed module, and by its installed source as another compiler would
fortran=$(sed -n 's/^FC = //p' "$build/Makefile")
if [ -f "$build/fortran/nsched.mod" ] && command -v pkg-config >/dev/null; then
	lib=$(dirname "$PKG_CONFIG_PATH")
	printf 'program p\n  use nsched\n  if (nsched_version() < 100) error stop\n  print *, nsched_worthwhile()\nend program\n' >"$work/p.f90"
	mkdir "$work/module" "$work/source"
	# shellcheck disable=SC2046
	(cd "$work/module" && $fortran ../p.f90 -o p $(PKG_CONFIG_SYSROOT_DIR=$work/moved pkg-config --cflags --libs nsched-fortran) \
		-Wl,-rpath,"$lib" && ./p >out)
	same 'a Fortran program by the installed module' 0 $?
	(cd "$work/source" && $fortran "$root/include/nsched/nsched.f90" ../p.f90 -o p -L"$lib" -lnsched -Wl,-rpath,"$lib" && ./p >out)
	same 'a Fortran program by the installed source' 0 $?
fi
finish
