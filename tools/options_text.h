/* The option table as text for humans. */
#ifndef NSCHED_OPTIONS_TEXT_H
#define NSCHED_OPTIONS_TEXT_H

#include <stdio.h>

#include "libnsched/config.h"

enum { DOMAIN_BYTES = 160 };

/* What values the option takes: "joint|stay", "10..10000 ms", "0|1", "text". Returns `text`. */
const char *options_domain(const struct config_option *option, char text[DOMAIN_BYTES]);

/* The table for a terminal: names, values, defaults, and what they are for. */
void options_help(FILE *file);

/* The table for README.md and for the man page; tests/lint/options-docs holds them to it. */
void options_markdown(FILE *file);
void options_mdoc(FILE *file);

#endif
