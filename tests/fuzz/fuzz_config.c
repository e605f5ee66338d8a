/* What the options do with any names and values, a line each, "NAME=VALUE": each is taken, or refused with one line of text; what was
 * taken reads as a value that is taken again and reads the same. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "nsched.h"

enum { VALUE_BYTES = 8192 };

static void set(nsched_config_t *config, char *line)
{
	char value[VALUE_BYTES], again[VALUE_BYTES];
	nsched_error_t error = { "" };
	char *sign = strchr(line, '=');
	if (sign) *sign = 0;
	int ret = nsched_config_set(config, line, sign ? sign + 1 : "", &error);
	if (ret && (!error.text[0] || !memchr(error.text, 0, sizeof error.text))) abort();
	if (ret && !strchr(line, '\n') && strchr(error.text, '\n') && !(sign && strchr(sign + 1, '\n'))) abort();
	int length = nsched_config_get(config, line, value, sizeof value);
	if (ret) return;
	if (length < 0 || nsched_config_set(config, line, value, &error)) abort();
	if (nsched_config_get(config, line, again, sizeof again) != length || strcmp(value, again)) abort();
	if (length > 0 && nsched_config_get(config, line, again, (size_t)length) != -28) abort();   /* -ENOSPC: no room for the zero */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	nsched_config_t *config;
	char *text = malloc(size + 1), *rest = text;
	if (!text || nsched_config_create(&config)) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = 0;
	for (char *line; (line = strsep(&rest, "\n"));) set(config, line);
	nsched_config_destroy(config);
	free(text);
	return 0;
}
