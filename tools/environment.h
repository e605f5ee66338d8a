/* What `nsched run` changes in the program's environment; docs/environment.md has it for readers. */
#ifndef NSCHED_ENVIRONMENT_H
#define NSCHED_ENVIRONMENT_H

/* `library` becomes the first of the list in the variable `name`, if it is not in it yet. The list's
 * entries end at any of `separators`; its first is written between ours and the rest. Returns 0, or
 * -ENOMEM. */
int environment_prepend(const char *name, const char *library, const char *separators);

/* OMP_TOOL_LIBRARIES gets the plugin first. Tools that the user had there are given to the plugin, in
 * NSCHED_TOOL_LIBRARIES, to be served by it; they stay in the list too, for programs where the plugin
 * declines. 0 or -ENOMEM. */
int environment_add_tool(const char *plugin);

/* Sets a variable of others, unless it is set, and says in NSCHED_EXPORTED that it was us. */
void environment_default(const char *name, const char *value);

/* Was the variable set by environment_default, here or in an `nsched run` further up? */
int environment_is_ours(const char *name);

/* NSCHED_LAUNCH_PID and NSCHED_LAUNCH_CPUS: this process, and the CPUs that it was given. 0 or -ENOMEM. */
int environment_mark_launch(void);

#endif
