#pragma once
// Nothing to call: CMemoryFiles.c takes the place of functions of the C library.
