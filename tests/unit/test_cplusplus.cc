// nsched.h from C++, as a program has it: every kind of call is compiled, linked and made. On one node or on
// several the results are the same; what the calls do is tested in C.
#include <nsched.h>

#include <cstdio>
#include <cstring>
#include <vector>

static int wrong;

static void check(bool holds, const char *what)
{
	if (!holds) {
		std::printf("FAILED: %s\n", what);
		wrong++;
	}
}

// What a C++ program would write: the scheduler's life is the object's.
class scheduler {
public:
	explicit scheduler(const nsched_config_t *config)
	{
		if (nsched_open(config, &handle) < 0)
			handle = nullptr;
	}
	~scheduler()
	{
		if (handle && nsched_close(handle) < 0)
			std::puts("not closed");
	}
	scheduler(const scheduler &) = delete;
	scheduler &operator=(const scheduler &) = delete;
	operator nsched_t *() const { return handle; }

private:
	nsched_t *handle = nullptr;
};

static nsched_config_t *options()
{
	nsched_config_t *config = nullptr;
	nsched_error_t error;

	check(nsched_config_create(&config) == 0, "options");
	check(nsched_config_set(config, "policy", "stay", &error) == 0, "an option");
	check(nsched_config_set(config, "policy", "jiont", &error) < 0 && std::strstr(error.text, "joint"), "a wrong one is named");
	return config;
}

static void work(nsched_t *nsched)
{
	std::vector<double> data(1 << 16);
	nsched_thread_t *self = nullptr;
	nsched_stats_t stats = nsched_stats_t();

	check(nsched_mem_attach(nsched, "data", data.data(), data.size() * sizeof(double)) == 0, "memory gets a name");
	check(nsched_thread_register(nsched, &self) == 0, "a thread is known");
	check(nsched_mem_hint(nsched, self, data.data(), data.size() * sizeof(double), 1000000) == 0, "a hint");
	nsched_region_begin(self, data.data());
	nsched_thread_place(self);
	nsched_region_end(self);
	check(nsched_step(nsched) >= 0, "a step");
	stats.size = sizeof(stats);
	check(nsched_stats(nsched, &stats) == 0 && stats.nodes >= 1, "figures");
	nsched_thread_unregister(self);
	check(nsched_mem_detach(nsched, data.data()) == 0, "memory is forgotten");
}

int main()
{
	nsched_config_t *config = options();
	nsched_source_t source;

	check(nsched_version() == NSCHED_VERSION, "the version");
	check(nsched_probe(&source, sizeof(source), 1) >= 1 && source.name[0], "a source");
	{
		scheduler nsched(config);

		nsched_config_destroy(config);
		check(nsched != nullptr, "open");
		work(nsched);
		check(nsched_probe(&source, sizeof(source), 1) < 0, "no probing beside a scheduler");
	}
	std::printf("%d failed\n", wrong);
	return wrong != 0;
}
