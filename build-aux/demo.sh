run_demo() { :; }
