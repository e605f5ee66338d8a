#include "sys/pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pure/pmu_words.h"

enum { PATH_BYTES = 256 };

bool pmu_file(const char *root, const char *device, const char *name, char text[PMU_TEXT_BYTES])
{
	char path[PATH_BYTES];
	int fd;
	ssize_t got;

	if (snprintf(path, sizeof(path), "%s" PMU_DEVICES "/%s/%s", root, device, name) >= (int)sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, PMU_TEXT_BYTES - 1);
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return got > 0;
}

bool pmu_type(const char *root, const char *device, uint32_t *type)
{
	char text[PMU_TEXT_BYTES], *end;

	if (!pmu_file(root, device, "type", text))
		return false;
	*type = (uint32_t)strtoul(text, &end, 10);
	return end != text && !*end;
}

int pmu_event(const char *root, const char *device, const char *words, struct perf_event_attr *attr)
{
	char word[PMU_WORD_BYTES], name[PMU_WORD_BYTES + 8], format[PMU_TEXT_BYTES];
	uint64_t config[PMU_CONFIGS] = { attr->config, attr->config1, attr->config2 }, value;
	int more;

	while ((more = pmu_word(&words, word, &value)) > 0) {
		int whole = pmu_config(word);

		if (whole >= 0) {
			config[whole] |= value;
			continue;
		}
		snprintf(name, sizeof(name), "format/%s", word);
		if (!pmu_file(root, device, name, format) || pmu_put(format, value, config))
			return -EINVAL;
	}
	attr->config = config[0];
	attr->config1 = config[1];
	attr->config2 = config[2];
	return more;
}
