// Nobody includes it (src/contrib/msc headers, v0.18): parsed by itself, so that its bodies are not lost.
inline int Nobody() { return 1; }
inline int CallsNobody() { return Nobody(); }
