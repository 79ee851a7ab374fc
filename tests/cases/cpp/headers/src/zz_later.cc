// A second unit that includes a claimed header adds no second row.
#include "claimed.h"

int Later() { return Claimed(2) + ClaimedNode().Twice(); }
