# Read by quickstart: runs every test and adds them up.
# shellcheck shell=bash

stages_failed=0

# stage FOLDER TITLE COMMAND...: a part of the tests; shows the result of each as it comes, and what live tests say
stage()
{
	local folder=$1 title=$2
	shift 2
	say "$title"
	if ! "$@" 2>&1 | tee -a "$log" | sed -un -e 's/^\(PASS\|FAIL\|SKIP\|XFAIL\|XPASS\|ERROR\): /      &/p' -e 's/^live: /      /p'; then
		# make ends so for a failed test, which its result tells, and for tests that it could not build
		if ! results "$folder" | xargs -r cat | grep -qE '^:test-result: (FAIL|XPASS|ERROR)'; then
			say "The tests of $folder could not be run; the end of $log:"
			tail -n 20 "$log" >&2
			stages_failed=$((stages_failed + 1))
		fi
	fi
}

results() { find "$@" -name '*.trs' 2>/dev/null; }

# The reason that a test gave for being skipped: the last line that it printed.
reason() { grep -v '^SKIP ' "${1%.trs}.log" | grep . | tail -n 1; }

# add_up FOLDER...: lists what failed and what was skipped, and prints the closing line
add_up()
{
	local passed=0 failed=$stages_failed skipped=0 file result
	for file in $(results "$@" | sort); do
		for result in $(sed -n 's/^:test-result: \([A-Z]*\).*/\1/p' "$file"); do
			case $result in
			PASS | XFAIL) passed=$((passed + 1)) ;;
			SKIP)
				skipped=$((skipped + 1))
				say "skipped: ${file%.trs}: $(reason "$file")"
				;;
			*)
				failed=$((failed + 1))
				say "failed: ${file%.trs}, see ${file%.trs}.log"
				;;
			esac
		done
	done
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
}

# build_in FOLDER CONFIGURE-OPTIONS...: configures it, if it was not or differently, and builds
build_in()
{
	local folder=$1
	shift
	mkdir -p "$folder"
	if [ ! -e "$folder/config.status" ] || [ "$(cat "$folder/configured-as" 2>/dev/null)" != "$*" ]; then
		step "configuring $folder" in_folder "$folder" ../configure -q "$@"
		echo "$*" >"$folder/configured-as"
	fi
	step "building $folder" make -C "$folder" -j "$jobs"
}

in_folder() { (cd "$1" && shift && "$@"); }

run_tests()
{
	build_in build-address --enable-werror --enable-sanitizers=address,undefined
	build_in build-thread --enable-werror --enable-sanitizers=thread
	if command -v clang >/dev/null; then build_in build-clang --enable-werror CC=clang; fi # its warnings are others
	find build build-address build-thread -name '*.trs' -delete
	stage build "Tests and lints" make -C build -k -j "$jobs" check
	stage build-address "Unit tests with AddressSanitizer and UndefinedBehaviorSanitizer" make -C build-address -k -j "$jobs" check
	stage build-thread "Unit tests with ThreadSanitizer" make -C build-thread -k -j "$jobs" check
	stage build "Live tests on several nodes: each is measured alone, some minutes in all" make -C build check-live
	add_up build build-address build-thread
}
