# The machine with several NUMA nodes that the tests run in, see README.md. Its own tests take some minutes and need QEMU:
# `make check-numabox' runs them, `make check' does not.
EXTRA_DIST += \
  tests/numabox/README.md \
  tests/numabox/guest-init \
  tests/numabox/guest-run \
  tests/numabox/mark.c \
  tests/numabox/mark.h \
  tests/numabox/nodes-run \
  tests/numabox/numabox \
  tests/numabox/numamodel.c \
  tests/numabox/numaoptions.c \
  tests/numabox/numaoptions.h \
  tests/numabox/numashape.c \
  tests/numabox/numashape.h \
  tests/numabox/plugin_api1.h \
  tests/numabox/selftest \
  tests/numabox/streams.c \
  tests/numabox/test-messages

NUMABOX_TESTS = tests/numabox/selftest tests/numabox/test-messages

# 77 is a test's word for "skipped", and no failure
.PHONY: check-numabox
check-numabox:
	@failed=; for t in $(NUMABOX_TESTS); do \
	  echo "# $$t"; \
	  $(srcdir)/$$t || test $$? = 77 || failed="$$failed $$t"; \
	done; \
	if test -n "$$failed"; then echo "check-numabox: failed:$$failed"; exit 1; fi
