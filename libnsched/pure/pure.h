/* Included last by every file of pure/: these files decide from numbers alone, so that the same code
 * runs in the program, in the simulator and in a test. What would touch the machine is poisoned;
 * tests/lint holds the undefined symbols of pure/ against an allow-list and catches the rest. */
#ifndef NSCHED_PURE_H
#define NSCHED_PURE_H
#pragma GCC poison getenv setenv secure_getenv fopen open openat read write fread fwrite close
#pragma GCC poison clock_gettime gettimeofday time nanosleep usleep sleep
#pragma GCC poison printf fprintf puts perror syslog
#pragma GCC poison pthread_create pthread_mutex_lock pthread_self syscall fork
#pragma GCC poison sched_setaffinity sched_getaffinity sched_getcpu abort exit _exit
#endif
