/* The loops whose samples the operand decoder is held against, and the arrays they work on. */
#ifndef TESTS_OPERAND_KERNELS_H
#define TESTS_OPERAND_KERNELS_H

#include <stddef.h>
#include <stdint.h>

/* Arrays, each a mapping of its own. */
enum array { A, B, C, D, IDX, IDX2, NODES, ROWS, ARRAYS };

struct node {
	struct node *next;
	double *value;       /* into A */
	double weight;
	double padding[5];   /* a cache line */
};

struct data {
	double *a, *b, *c, *d;   /* n of each */
	int32_t *idx;            /* n: a permutation of 0..n-1 */
	int32_t *idx2;           /* n: another; also row starts and integers to add up */
	struct node *nodes;      /* nodes in a random ring */
	double **rows;           /* side of them, into A */
	long n;
	long side;               /* side * side <= n */
	long count;              /* of nodes */
	volatile double one;     /* 1, unknown to the compiler */
	volatile double result;  /* keeps the compiler honest */
};

struct kernel {
	const char *name;
	void (*run)(struct data *data);
	unsigned uses;           /* a bit for each enum array that it touches */
	unsigned shares;         /* arrays that must each be seen with a decent share, or 0 */
};

extern const struct kernel kernels[];
extern const unsigned kernel_count;

/* Globals that kernels find their arrays by. */
extern double *global_a;
extern double *global_b;

#endif
