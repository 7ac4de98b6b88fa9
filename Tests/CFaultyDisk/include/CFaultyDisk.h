#pragma once
#include <stdint.h>

// Faults under SQLite, for this thread only: its system calls that change files go through here.

/// Call number `call` (from 0) fails with `error`, an errno; with -1 none does. The count begins anew.
void faulty_disk_arm(int32_t call, int32_t error);

/// Ends it, and says how many calls there were.
int32_t faulty_disk_disarm(void);
