EXTRA_DIST += tests/bench/ranks.sh
bench-ranks: tools/nsched
	$(srcdir)/tests/bench/ranks.sh tools/nsched
.PHONY: bench-ranks
