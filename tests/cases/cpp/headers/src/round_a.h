// Two headers that include each other and that nobody includes: `#pragma once` would not hold in a main file.
#pragma once
#include "round_b.h"
inline int RoundA() { return 1; }
