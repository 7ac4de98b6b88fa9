#pragma once
#include <stdint.h>

/// Sets what gettimeofday returns on this thread, microseconds since 1970; 0 brings back the true time.
void virtual_clock_set(int64_t microseconds);
