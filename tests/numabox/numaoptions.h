/* What the user may set of the timing model (`numabox -M name=value,...`), and where its lines go. */
#ifndef NUMAOPTIONS_H
#define NUMAOPTIONS_H

struct options {
	double smt;           /* threads a core */
	double slow;          /* wall ns for one model ns; 0: by the number of CPUs */
	double local, remote; /* model ns of a miss */
	double far;           /* the same, from another group of nodes; 0: twice as much farther than remote is */
	double insn;          /* model ns of an instruction */
	double pause;         /* model ns of a `pause` */
	double streams;       /* local streams of misses that a node's memory can serve, for each of the CPUs that there are for a node */
	double smtfactor;     /* instructions take longer by this while a sibling thread runs */
	char *out;            /* file, NULL: the standard error */
};

void options_default(struct options *options);

/* Takes "name=value": 0, or -1 after a message. */
int options_set(struct options *options, const char *text);

#endif
