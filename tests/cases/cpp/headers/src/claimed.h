#ifndef TVM_CLAIMED_H_
#define TVM_CLAIMED_H_
#ifdef TVM_USE_CLAIMED
int Guarded();
#endif
inline int Claimed(int x) { return x; }
struct ClaimedNode {
  int Twice() { return Claimed(1) + Claimed(2); }
};
int Later();
struct ClaimedRef {
  ClaimedRef() {}
};
struct Derived : ClaimedRef {
  Derived(int x);
};
#endif  // TVM_CLAIMED_H_
