include examples/omp.mk
