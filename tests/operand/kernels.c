/* Built by each compiler at each level: see table and check.c. Plain loops as programs have them. */
#include "kernels.h"

#include <math.h>
#include <string.h>

#define KERNEL __attribute__((noinline))
#define BIT(x) (1u << (x))

double *global_a;
double *global_b;

/* ---- one array ------------------------------------------------------------------------------------ */

static KERNEL double sum(const double *a, long n)
{
	double s = 0;

	for (long i = 0; i < n; i++)
		s += a[i];
	return s;
}

static KERNEL long sum_int(const int32_t *a, int n)
{
	long s = 0;

	for (int i = 0; i < n; i++)
		s += a[i];
	return s;
}

static KERNEL double sum_strided(const double *a, long n, long stride)
{
	double s = 0;

	for (long i = 0; i < n; i += stride)
		s += a[i];
	return s;
}

static KERNEL void scale(double *a, long n, double by)
{
	for (long i = 0; i < n; i++)
		a[i] *= by;
}

static KERNEL void fill(double *a, long n, double with)
{
	for (long i = 0; i < n; i++)
		a[i] = with + (double)i;
}

static KERNEL void set(double *a, long n)
{
	memset(a, 0, (size_t)n * sizeof(*a));
}

static KERNEL double sum_backwards(const double *a, long n)
{
	double s = 0;

	for (long i = n - 1; i >= 0; i--)
		s += a[i] * 0.5;
	return s;
}

static KERNEL double sum_pointer(const double *a, const double *end)
{
	double s = 0;

	while (a < end)
		s += *a++;
	return s;
}

static KERNEL double column(const double *a, int side, int passes)
{
	double s = 0;

	for (int p = 0; p < passes; p++)
		for (int j = 0; j < side; j++)
			s += a[(long)j * side + p];
	return s;
}

static KERNEL double search(const double *a, long n, int times)
{
	unsigned long seed = 1;
	double found = 0;

	for (int k = 0; k < times; k++) {
		long low = 0, high = n;
		double wanted;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		wanted = (double)(seed >> 33) / 2147483648.0 * (double)n;
		while (low < high) {
			long middle = (low + high) / 2;

			if (a[middle] < wanted)
				low = middle + 1;
			else
				high = middle;
		}
		found += (double)low;
	}
	return found;
}

/* ---- chains ----------------------------------------------------------------------------------------- */

static KERNEL double chase(const struct node *node, long steps)
{
	double s = 0;

	for (long i = 0; i < steps; i++) {
		s += node->weight;
		node = node->next;
	}
	return s;
}

static KERNEL double chase_value(const struct node *node, long steps)
{
	double s = 0;

	for (long i = 0; i < steps; i++) {
		s += *node->value;
		node = node->next;
	}
	return s;
}

/* ---- two arrays ------------------------------------------------------------------------------------- */

static KERNEL double dot(const double *a, const double *b, long n)
{
	double s = 0;

	for (long i = 0; i < n; i++)
		s += a[i] * b[i];
	return s;
}

static KERNEL void axpy(double *b, const double *a, double k, long n)
{
	for (long i = 0; i < n; i++)
		b[i] += k * a[i];
}

static KERNEL void copy(double *b, const double *a, long n)
{
	for (long i = 0; i < n; i++)
		b[i] = a[i];
}

static KERNEL double gather(const double *a, const int32_t *idx, long n)
{
	double s = 0;

	for (long i = 0; i < n; i++)
		s += a[idx[i]];
	return s;
}

static KERNEL void scatter(double *a, const int32_t *idx, long n)
{
	for (long i = 0; i < n; i++)
		a[idx[i]] = (double)i;
}

static KERNEL void histogram(double *a, const int32_t *idx, int n)
{
	for (int i = 0; i < n; i++)
		a[idx[i]] += 1;
}

static KERNEL double branchy(const double *a, const double *b, long n)
{
	double s = 0;

	for (long i = 0; i < n; i++) {
		if (((long)a[i] & 3) == 0)
			s += b[i];
		else
			s -= 1;
	}
	return s;
}

static KERNEL void stencil3(double *b, const double *a, long n)
{
	for (long i = 1; i < n - 1; i++)
		b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;
}

static KERNEL void stencil5(double *b, const double *a, int side)
{
	for (int i = 1; i < side - 1; i++)
		for (int j = 1; j < side - 1; j++)
			b[i * side + j] = 0.2 * (a[i * side + j] + a[(i - 1) * side + j] + a[(i + 1) * side + j] +
			                         a[i * side + j - 1] + a[i * side + j + 1]);
}

static KERNEL void stencil7(double *restrict b, const double *restrict a, int x, int y, int z)
{
#define AT(i, j, k) (((long)(i) * y + (j)) * z + (k))
	for (int i = 1; i < x - 1; i++)
		for (int j = 1; j < y - 1; j++)
			for (int k = 1; k < z - 1; k++)
				b[AT(i, j, k)] = a[AT(i, j, k)] * 0.4 +
				                 0.1 * (a[AT(i - 1, j, k)] + a[AT(i + 1, j, k)] + a[AT(i, j - 1, k)] +
				                        a[AT(i, j + 1, k)] + a[AT(i, j, k - 1)] + a[AT(i, j, k + 1)]);
#undef AT
}

static KERNEL double row_pointers(double *const *rows, long side)
{
	double s = 0;

	for (long i = 0; i < side; i++)
		for (long j = 0; j < side; j++)
			s += rows[i][j];
	return s;
}

static KERNEL void by_globals(long n)
{
	for (long i = 0; i < n; i++)
		global_b[i] = global_a[i] + 1;
}

/* ---- three arrays and more ---------------------------------------------------------------------------- */

static KERNEL void triad(double *c, const double *a, const double *b, double k, long n)
{
	for (long i = 0; i < n; i++)
		c[i] = a[i] + k * b[i];
}

static KERNEL void four(double *d, const double *a, const double *b, const double *c, int n)
{
	for (int i = 0; i < n; i++)
		d[i] = a[i] * b[i] + c[i];
}

static KERNEL void sparse(double *b, const double *a, const double *c, const int32_t *column_of, long rows, int each)
{
	for (long i = 0; i < rows; i++) {
		double s = 0;

		for (long k = i * each; k < (i + 1) * each; k++)
			s += a[k] * c[column_of[k]];
		b[i] = s;
	}
}

static KERNEL void gather2(double *b, const double *a, const int32_t *idx, const int32_t *idx2, long n)
{
	for (long i = 0; i < n; i++)
		b[i] = a[idx[i]] - a[idx2[i]];
}

static KERNEL void multiply(double *c, const double *a, const double *b, int side, int rows)
{
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < side; k++)
			for (int j = 0; j < side; j++)
				c[i * side + j] += a[i * side + k] * b[k * side + j];
}

/* ---- structures --------------------------------------------------------------------------------------- */

struct particle {
	double x, y, z, vx, vy, vz, mass, charge;
};

static KERNEL void push(struct particle *p, long n, double dt)
{
	for (long i = 0; i < n; i++) {
		p[i].x += p[i].vx * dt;
		p[i].y += p[i].vy * dt;
		p[i].z += p[i].vz * dt;
	}
}

struct field {
	double *from;
	double *to;
	long n;
};

static KERNEL void through_object(struct field *f)
{
	for (long i = 0; i < f->n; i++)
		f->to[i] = f->from[i] * 1.5;
}

/* ---- calls in the loop ---------------------------------------------------------------------------------- */

static KERNEL double value_at(const double *a, long i)
{
	return a[i] + 1;
}

static KERNEL double call_load(const double *a, const int32_t *idx, long n)
{
	double s = 0;

	for (long i = 0; i < n; i++)
		s += value_at(a, idx[i]);
	return s;
}

static KERNEL double polynomial(double x)
{
	return ((x * 0.25 + 0.5) * x + 1) * x + 2;
}

static KERNEL void call_value(double *b, const double *a, const int32_t *idx, long n)
{
	for (long i = 0; i < n; i++)
		b[i] = polynomial(a[idx[i]]);
}

static KERNEL double short_row(const double *a, int n)
{
	double s = 0;

	for (int i = 0; i < n; i++)
		s += a[i];
	return s;
}

static KERNEL void short_rows(double *b, const double *a, long n)
{
	enum { ROW = 24 };

	for (long i = 0; i < n / ROW; i++)
		b[i] = short_row(a + i * ROW, ROW);
}

static KERNEL void library_call(double *b, const double *a, long n)
{
	for (long i = 0; i < n; i++)
		b[i] = exp(-a[i]);
}

/* ---- the table -------------------------------------------------------------------------------------------- */

#define RUN(name, ...)                                                                                                 \
	static void run_##name(struct data *d)                                                                         \
	{                                                                                                              \
		__VA_ARGS__;                                                                                           \
	}

RUN(sum, d->result = sum(d->a, d->n))
RUN(sum_int, d->result = (double)sum_int(d->idx2, (int)d->n))
RUN(sum_strided, d->result = sum_strided(d->a, d->n, 24))
RUN(scale, scale(d->a, d->n, d->one))
RUN(fill, fill(d->a, d->n, 0))
RUN(set, set(d->b, d->n))
RUN(sum_backwards, d->result = sum_backwards(d->a, d->n))
RUN(sum_pointer, d->result = sum_pointer(d->a, d->a + d->n))
RUN(column, d->result = column(d->a, (int)d->side, 64))
RUN(search, d->result = search(d->a, d->n, 20000))
RUN(chase, d->result = chase(d->nodes, d->count))
RUN(chase_value, d->result = chase_value(d->nodes, d->count))
RUN(dot, d->result = dot(d->a, d->b, d->n))
RUN(axpy, axpy(d->b, d->a, 0.5, d->n))
RUN(copy, copy(d->b, d->a, d->n))
RUN(gather, d->result = gather(d->a, d->idx, d->n))
RUN(scatter, scatter(d->b, d->idx, d->n))
RUN(histogram, histogram(d->b, d->idx, (int)d->n))
RUN(branchy, d->result = branchy(d->a, d->b, d->n))
RUN(stencil3, stencil3(d->b, d->a, d->n))
RUN(stencil5, stencil5(d->b, d->a, (int)d->side))
RUN(stencil7, stencil7(d->b, d->a, 120, 128, 128))
RUN(row_pointers, d->result = row_pointers(d->rows, d->side))
RUN(by_globals, by_globals(d->n))
RUN(triad, triad(d->c, d->a, d->b, 0.5, d->n))
RUN(four, four(d->d, d->a, d->b, d->c, (int)d->n))
RUN(sparse, sparse(d->b, d->a, d->c, d->idx, d->n / 16, 16))
RUN(gather2, gather2(d->b, d->a, d->idx, d->idx2, d->n))
RUN(multiply, multiply(d->c, d->a, d->b, (int)d->side, 4))
RUN(push, push((struct particle *)d->b, d->n / 8, 0.1))
RUN(through_object, struct field f = { d->a, d->b, d->n }; through_object(&f))
RUN(call_load, d->result = call_load(d->a, d->idx, d->n))
RUN(call_value, call_value(d->b, d->a, d->idx, d->n))
RUN(short_rows, short_rows(d->b, d->a, d->n))
RUN(library_call, library_call(d->b, d->a, d->n))

#define K(name, uses, shares) { #name, run_##name, uses, shares }

const struct kernel kernels[] = {
	K(sum, BIT(A), 0),
	K(sum_int, BIT(IDX2), 0),
	K(sum_strided, BIT(A), 0),
	K(scale, BIT(A), 0),
	K(fill, BIT(A), 0),
	K(set, BIT(B), 0),
	K(sum_backwards, BIT(A), 0),
	K(sum_pointer, BIT(A), 0),
	K(column, BIT(A), 0),
	K(search, BIT(A), 0),
	K(chase, BIT(NODES), 0),
	K(chase_value, BIT(NODES) | BIT(A), 0),
	K(dot, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(axpy, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(copy, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(gather, BIT(A) | BIT(IDX), 0),
	K(scatter, BIT(B) | BIT(IDX), 0),
	K(histogram, BIT(B) | BIT(IDX), 0),
	K(branchy, BIT(A) | BIT(B), 0),
	K(stencil3, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(stencil5, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(stencil7, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(row_pointers, BIT(A) | BIT(ROWS), 0),
	K(by_globals, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(triad, BIT(A) | BIT(B) | BIT(C), BIT(A) | BIT(B) | BIT(C)),
	K(four, BIT(A) | BIT(B) | BIT(C) | BIT(D), BIT(A) | BIT(B) | BIT(C) | BIT(D)),
	K(sparse, BIT(A) | BIT(B) | BIT(C) | BIT(IDX), BIT(A)),
	K(gather2, BIT(A) | BIT(B) | BIT(IDX) | BIT(IDX2), 0),
	K(multiply, BIT(A) | BIT(B) | BIT(C), BIT(B) | BIT(C)),
	K(push, BIT(B), 0),
	K(through_object, BIT(A) | BIT(B), BIT(A) | BIT(B)),
	K(call_load, BIT(A) | BIT(IDX), 0),
	K(call_value, BIT(A) | BIT(B) | BIT(IDX), 0),
	K(short_rows, BIT(A) | BIT(B), 0),
	K(library_call, BIT(A) | BIT(B), BIT(A) | BIT(B)),
};
const unsigned kernel_count = sizeof(kernels) / sizeof(*kernels);
