/* Switches callgrind's instrumentation on and off from within the traced Python process (recorder/native.py). The two
 * requests are defined by valgrind's own header; outside valgrind they do nothing.
 */
#include <valgrind/callgrind.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT void xref_native_start(void) { CALLGRIND_START_INSTRUMENTATION; }

EXPORT void xref_native_stop(void) { CALLGRIND_STOP_INSTRUMENTATION; }
