#pragma once
inline int Inner() { return 1; }
