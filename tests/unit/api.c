#include "api.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

char api_folder[64];

nsched_t *api_opened(void)
{
	nsched_t *handle = NULL;
	ck_assert_int_eq(nsched_open(NULL, &handle), 0);
	ck_assert_ptr_nonnull(handle);
	return handle;
}

const char *api_path(const char *name)
{
	static char text[512];
	snprintf(text, sizeof text, "%s/%s", api_folder, name);
	return text;
}

char *api_contents(const char *file)
{
	static char text[65536];
	FILE *in = fopen(file, "re");
	ck_assert_msg(in != NULL, "there is no %s", file);
	text[fread(text, 1, sizeof text - 1, in)] = 0;
	fclose(in);
	return text;
}

static void remove_folder(void)
{
	DIR *dir = opendir(api_folder);
	for (struct dirent *d; dir && (d = readdir(dir));)
		if (d->d_name[0] != '.') unlink(api_path(d->d_name));
	if (dir) closedir(dir);
	rmdir(api_folder);
}

int api_main(const char *name, void (*add)(TCase *tcase))
{
	nsched_error_t why;
	if (nsched_worthwhile(&why)) {
		printf("this machine has several NUMA nodes: the live tests are for it\n");
		return 77;
	}
	snprintf(api_folder, sizeof api_folder, "/tmp/nsched-api.XXXXXX");
	if (!mkdtemp(api_folder)) return 99;
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create("one node");
	SRunner *runner = srunner_create(suite);
	suite_add_tcase(suite, tcase);
	tcase_set_timeout(tcase, 60);
	add(tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	remove_folder();
	return failed != 0;
}
