#include "filename.h"

#include <string.h>

#include "pure.h"

/* Where the extension begins, at its dot; the end of the name if it has none. ".run" has none. */
static size_t extension(const char *file)
{
	const char *slash = strrchr(file, '/'), *base = slash == NULL ? file : slash + 1;
	const char *dot = strrchr(base, '.');

	return dot == NULL || dot == base ? strlen(file) : (size_t)(dot - file);
}

int filename_insert(const char *file, const char *word, char *name, size_t bytes)
{
	size_t head = extension(file), word_length = strlen(word), length = strlen(file) + 1 + word_length;

	if (length >= bytes)
		return -1;
	memcpy(name, file, head);
	name[head] = '.';
	memcpy(name + head + 1, word, word_length);
	strcpy(name + head + 1 + word_length, file + head);
	return (int)length;
}
