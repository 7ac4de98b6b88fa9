#pragma once
#include <stdint.h>

/// Sets what gettimeofday returns on this thread, microseconds since 1970; 0 brings back the true
/// time.
void virtual_clock_set(int64_t microseconds);

/// Bytes of the heap in use by the whole process (mallinfo2, which Swift's Glibc module lacks).
int64_t heap_bytes_in_use(void);
