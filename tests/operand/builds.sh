# Builds of the kernels, for fast and table. Expects to run in the top build directory, with srcdir set.
# A build is COMPILER-LEVEL: gcc-O0 ... clang-O3-avx2.

kernels=$srcdir/tests/operand/kernels.c
checker=tests/operand/libchecker.a
include="-I$srcdir/tests/operand -I$srcdir/libnsched"
capstone=$(pkg-config --libs capstone 2>/dev/null || echo -lcapstone)

skip() { echo "skipped: $*"; exit 77; }

compilers() { for cc in gcc clang; do command -v $cc >/dev/null 2>&1 && echo $cc; done; }

levels() {
	echo O0 O1 O2 O3
	if grep -qw avx2 /proc/cpuinfo && grep -qw fma /proc/cpuinfo; then echo O3-avx2; fi
}

# build COMPILER LEVEL OUTPUT
build() {
	case $2 in
	*-avx2) flags="-${2%-avx2} -mavx2 -mfma" ;;
	*) flags=-$2 ;;
	esac
	$1 -std=gnu11 $flags $include -c "$kernels" -o "$3.o" &&
	$1 "$3.o" "$checker" -Wl,--wrap=operand_resolve -Wl,-z,now $capstone -lm -lpthread -o "$3"
}

[ -f $checker ] || skip "no $checker: run make check"
if nm $checker 2>/dev/null | grep -q '__[atu][a-z]*san_'; then skip "sanitizers change what the loops touch"; fi
[ "$(uname -m)" = x86_64 ] || skip "no operand decoder for $(uname -m)"
