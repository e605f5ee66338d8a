dist_man1_MANS += docs/nsched.1
EXTRA_DIST += docs/environment.md docs/dev.md docs/machine-file.md docs/sim.md docs/joint.md docs/replay.md docs/ranks.md docs/mpi.md docs/harmless.md docs/bench.md docs/bench.svg
