// Who writes a field: most of TVM's fields are objects, written by their operator= (n->body = std::move(body) in every
// src/tirx/ir/stmt.cc constructor), counters (src/relax/transform/fuse_ops.cc), arrays.
// show: refs
struct Node {
  int value;
  Node& operator=(const Node&);
  Node& operator++();
  Node operator++(int);
  Node* next;
  int array[3];
};
struct Pointer {
  Node* operator->();
  Node& operator*();
};
int global;
Node* Self();

void Use(Node n, Node m, Pointer p, int* q, int* r, const int& c) {
  n = m;
  p->value = m.value;
  p->next->value += c;
  *p = m;
  ++n;
  m++;
  *q = *r;
  n.array[global] = n.array[1];
  (global) = 3;
  *Self() = m;
  Self()->value = 1;
  q = &global;
  r = &n.value;
  r = &n.array[1];
  global++;
  --global;
  int x = global = 3;
  (n.value ? n : m) = m;
}
