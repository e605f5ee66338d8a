include libnsched/config.mk
