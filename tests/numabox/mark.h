/* How a program inside the machine speaks to the timing model: an instruction that does nothing, whose displacement reads
 * "num" and a digit. Elsewhere it really does nothing. */
#ifndef NUMABOX_MARK_H
#define NUMABOX_MARK_H

/* The model off; prints the totals since the last line, as "model end: ...". */
#define NUMABOX_OFF() __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,'n','u','m','0'" ::: "memory")
/* The model on, all counts from zero ("model before: ..."). */
#define NUMABOX_ON() __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,'n','u','m','1'" ::: "memory")
/* Prints the totals since the last line, as "model lap: ...". */
#define NUMABOX_LAP() __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,'n','u','m','2'" ::: "memory")

#endif
