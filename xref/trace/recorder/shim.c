/* Records every call that crosses tvm_ffi's C ABI, TVMFFIFunctionCall, when preloaded into a Python process (LD_PRELOAD).
 *
 * A row is one (thread, Python code object, line, function handle): how often, and how long in all. Rows are read by
 * recorder/ffi.py through the xref_ffi_* functions. No Python header is needed: the few functions of Python's C API that
 * are used are looked up at run time, so that one library serves every interpreter from 3.9 on.
 *
 * Tensors that cross are told by the addresses of their data: of arguments and results of calls, and of DLPack exchanges.
 *
 * Seen: calls made by tvm_ffi's Cython core (also constructors, and conversions of arguments) and by compiled modules.
 * Not seen: calls of one C++ function by another, which go through the function object's own pointer.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))
#define BUCKETS 16384
#define MAX_OPEN 512
#define MAX_ARGUMENTS 64
#define MAX_NAME 200

/* One row. `via` is the open call from within which native code made this one; 0 when Python made it. `origin` is the
 * function that returned this one as its result (an iterator, a function of a module); 0 when none did. `name` is the
 * one that this was asked for by, NULL when by none. `tensors` counts the calls with tensors, by what became of their
 * data (enum tensor). `handle` is 1 or 2 for an exchange by DLPack. */
struct row {
  struct row *next_in_bucket, *next;
  void *code, *handle, *via, *origin;
  const char *name;
  int64_t line;
  struct thread *thread;
  uint64_t count, nanoseconds, tensors[4];
};

/* The function that last returned `handle`, and the one string that it was given (the name of what it should return), or
 * NULL. A freed function's address may be used again; then the last one counts. */
struct origin {
  struct origin *next_in_bucket;
  void *handle, *producer;
  const char *name;
};

/* A name, kept once and for ever: rows point to it. */
struct name {
  struct name *next_in_bucket;
  char text[];
};

/* The head of TVMFFIAny, and the type index of functions (tvm_ffi c_api.h: TVMFFIAny, kTVMFFIFunction). */
struct any {
  int32_t type_index, padding;
  void *object;
};
#define TYPE_OPAQUE_POINTER 4
#define TYPE_DLTENSOR_POINTER 7
#define TYPE_RAW_STRING 8
#define TYPE_SMALL_STRING 11
#define TYPE_STRING 65
#define TYPE_FUNCTION 68
#define TYPE_TENSOR 70

/* The data pointer: the first member of DLTensor, which follows the 24 bytes of TVMFFIObject in a tensor object. */
#define DATA_OF_DLTENSOR(pointer) (*(void **)(pointer))
#define DATA_OF_TENSOR(object) (*(void **)((char *)(object) + 24))

/* What became of the memory of tensors in one call: an address that came out, or a second one that went in (a raw
 * pointer to copy from or to), is one that went in; is another; nothing to compare with: the callee got this very
 * address; or a tensor came out and none went in. */
enum tensor { SAME, DIFFERENT, PASSED, MADE };
#define FROM_DLPACK ((void *)1)
#define TO_DLPACK ((void *)2)
#define CREATED ((void *)3)
#define REGISTERED ((void *)4)

/* A call that has not returned yet: its number, the Python frame that made it, and the function. */
struct open_call {
  uint64_t sequence;
  void *frame, *handle;
};

/* One thread, never freed. `top_frame` and `top_handle` describe its innermost open call; ffi.py reads them in place. */
struct thread {
  void *top_frame, *top_handle;
  uint64_t depth, paused;
  struct open_call open[MAX_OPEN];
};

typedef int (*call_type)(void *, void *, int32_t, void *);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct row *buckets[BUCKETS], *first;
static struct origin *origins[BUCKETS];
static struct name *names[BUCKETS];
static uint64_t sequence;
static int recording = 1;
static __thread struct thread *current;
static call_type real_call;

static struct {
  int ready;
  int (*is_initialized)(void), (*holds_gil)(void), (*line)(void *), (*ensure)(void);
  void (*release)(int), (*dec_ref)(void *);
  void *(*thread_state)(void), *(*frame)(void), *(*code)(void *);
} python;

EXPORT int TVMFFIFunctionCall(void *handle, void *arguments, int32_t count, void *result);

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

struct search {
  const char *name;
  void *own, *found;
};

/* The function of another loaded library: tvm_ffi's is loaded by dlopen, often out of RTLD_NEXT's sight. */
static int visit_library(struct dl_phdr_info *info, size_t size, void *data) {
  (void)size;
  struct search *search = data;
  void *library = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_LAZY);
  if (!library) return 0;
  void *function = dlsym(library, search->name);
  dlclose(library);
  if (!function || function == search->own) return 0;
  search->found = function;
  return 1;
}

static void *find_real(const char *name, void *own) {
  struct search search = {name, own, dlsym(RTLD_NEXT, name)};
  if (!search.found) dl_iterate_phdr(visit_library, &search);
  if (!search.found) abort();
  return search.found;
}

static void find_python(void) {
#define FIND(field, name) *(void **)&python.field = dlsym(RTLD_DEFAULT, name)
  FIND(is_initialized, "Py_IsInitialized");
  FIND(holds_gil, "PyGILState_Check");
  FIND(ensure, "PyGILState_Ensure");
  FIND(release, "PyGILState_Release");
  FIND(thread_state, "PyGILState_GetThisThreadState");
  FIND(frame, "PyEval_GetFrame");
  FIND(code, "PyFrame_GetCode");
  FIND(line, "PyFrame_GetLineNumber");
  FIND(dec_ref, "Py_DecRef");
  python.ready = python.is_initialized && python.holds_gil && python.ensure && python.release && python.thread_state &&
                 python.frame && python.code && python.line && python.dec_ref ? 1 : -1;
}

EXPORT struct thread *xref_ffi_thread(void) {
  if (!current) current = calloc(1, sizeof *current);
  return current;
}

static struct origin **origin_of(void *handle) {
  struct origin **at = &origins[((uintptr_t)handle >> 4) % BUCKETS];
  while (*at && (*at)->handle != handle) at = &(*at)->next_in_bucket;
  return at;
}

/* The kept name with this text; NULL when there is no memory left. The mutex must be held. */
static const char *kept_name(const char *text, uint64_t size) {
  uint64_t hash = 5381;
  for (uint64_t i = 0; i < size; i++) hash = hash * 33 + (unsigned char)text[i];
  struct name **at = &names[hash % BUCKETS];
  while (*at && (strlen((*at)->text) != size || memcmp((*at)->text, text, size))) at = &(*at)->next_in_bucket;
  if (!*at && (*at = calloc(1, sizeof **at + size + 1))) memcpy((*at)->text, text, size);
  return *at ? (*at)->text : NULL;
}

static void note_origin(void *handle, void *producer, const char *text, uint64_t size) {
  pthread_mutex_lock(&mutex);
  struct origin **at = origin_of(handle);
  if (!*at && (*at = calloc(1, sizeof **at))) (*at)->handle = handle;
  if (*at) (*at)->producer = producer, (*at)->name = text ? kept_name(text, size) : NULL;
  pthread_mutex_unlock(&mutex);
}

/* A function gets a key, or becomes a type's method: what was freed at its address before was another one. One that Python
 * code made keeps saying so: it is made first and registered then, and both are the same function. */
static void note_registered(void *handle) {
  pthread_mutex_lock(&mutex);
  struct origin *known = *origin_of(handle);
  if (known && known->producer != CREATED) known->producer = REGISTERED, known->name = NULL;
  pthread_mutex_unlock(&mutex);
}

/* What last returned the function at this address; NULL when nothing did. */
EXPORT void *xref_ffi_origin(void *handle) {
  pthread_mutex_lock(&mutex);
  struct origin *known = *origin_of(handle);
  void *producer = known ? known->producer : NULL;
  pthread_mutex_unlock(&mutex);
  return producer;
}

/* The text of a string; NULL for what is none. A string object holds its pointer and size after the 24 bytes of
 * TVMFFIObject; a small one is in the value itself, its size in the padding (c_api.h: TVMFFIByteArray, TVMFFIAny). */
static const char *text_of(const struct any *value, uint64_t *size) {
  const char *text = NULL;
  if (value->type_index == TYPE_SMALL_STRING) {
    text = (const char *)&value->object, *size = (uint32_t)value->padding;
  } else if (value->type_index == TYPE_RAW_STRING) {
    text = value->object, *size = text ? strlen(text) : 0;
  } else if (value->type_index == TYPE_STRING) {
    text = *(const char **)((char *)value->object + 24), *size = *(uint64_t *)((char *)value->object + 32);
  }
  return text;
}

/* The one string among the arguments, if there is exactly one and it can be a name; else NULL. */
static const char *name_among(const struct any *arguments, int32_t count, uint64_t *size) {
  const char *name = NULL;
  for (int32_t i = 0; i < count; i++) {
    uint64_t length = 0;
    const char *text = text_of(&arguments[i], &length);
    if (text && name) return NULL;
    if (text) name = text, *size = length;
  }
  if (!name || !*size || *size > MAX_NAME) return NULL;
  for (uint64_t i = 0; i < *size; i++)
    if (name[i] <= ' ' || name[i] == '"' || name[i] == 127) return NULL;
  return name;
}

/* The row of this call, made when new; sets `is_new`. NULL when there is no memory left. */
static struct row *find_row(struct thread *thread, void *code, int64_t line, void *handle, void *via, int *is_new) {
  uintptr_t hash = ((uintptr_t)handle >> 4) * 31 + ((uintptr_t)code >> 4) * 17 + (uintptr_t)line + ((uintptr_t)thread >> 6);
  struct row **bucket = &buckets[(hash ^ hash >> 14) % BUCKETS], *row;
  pthread_mutex_lock(&mutex);
  struct origin *known = *origin_of(handle);
  void *origin = known ? known->producer : NULL;
  const char *name = known ? known->name : NULL;
  for (row = *bucket; row; row = row->next_in_bucket)
    if (row->handle == handle && row->code == code && row->line == line && row->thread == thread && row->via == via &&
        row->origin == origin && row->name == name)
      break;
  *is_new = !row;
  if (!row && (row = calloc(1, sizeof *row))) {
    row->code = code, row->handle = handle, row->via = via, row->line = line, row->thread = thread;
    row->origin = origin, row->name = name;
    row->next_in_bucket = *bucket, *bucket = row;
    row->next = first, first = row;
  }
  pthread_mutex_unlock(&mutex);
  return row;
}

/* The row of the call that this thread is about to make, and the Python frame that makes it.
 *
 * tvm_ffi releases the GIL before most calls. It is taken back for the moment of the look-up: the frame is this
 * thread's own, but asking for it may allocate. A row holds a reference to its code object for ever. */
static struct row *begin(struct thread *thread, void *handle, void **frame) {
  void *code = NULL, *via = thread->depth ? thread->top_handle : NULL;
  int64_t line = 0;
  int state = 0, held = 1, is_new = 1, usable;
  if (!python.ready) find_python();
  usable = python.ready > 0 && python.is_initialized() && python.thread_state();
  if (usable) {
    held = python.holds_gil();
    if (!held) state = python.ensure();
    *frame = python.frame();
    if (*frame) {
      code = python.code(*frame);
      line = python.line(*frame);
      /* The frame of the open call made it; so what makes this one is native code inside that call. */
      if (*frame != thread->top_frame) via = NULL;
    }
  }
  struct row *row = find_row(thread, code, line, handle, via, &is_new);
  if (code && !is_new) python.dec_ref(code);
  if (usable && !held) python.release(state);
  return row;
}

/* What became of the memory of the tensors of a call that has returned; -1 when there were none. */
static int tensors_of(const struct any *arguments, int32_t count, const void *const *data, const struct any *result) {
  int tensors = 0, pointers = 0;
  const void *out = NULL, *raw = NULL, *in = NULL;
  for (int32_t i = 0; i < count && i < MAX_ARGUMENTS; i++) {
    if (arguments[i].type_index == TYPE_OPAQUE_POINTER) pointers++, raw = arguments[i].object;
    else if (data[i]) tensors++, in = data[i];
  }
  if (result && result->type_index == TYPE_TENSOR) {
    out = DATA_OF_TENSOR(result->object);
    if (!tensors) return MADE;
    for (int32_t i = 0; i < count && i < MAX_ARGUMENTS; i++)
      if (data[i] == out) return SAME;
    return DIFFERENT;
  }
  if (!tensors) return -1;
  return tensors == 1 && pointers == 1 ? (raw == in ? SAME : DIFFERENT) : PASSED;
}

/* The data pointers of the arguments, NULL for what is no tensor: taken before the call, which may free them. */
static void data_of(const struct any *arguments, int32_t count, const void **data) {
  for (int32_t i = 0; i < count && i < MAX_ARGUMENTS; i++) {
    int32_t type = arguments[i].type_index;
    data[i] = !arguments[i].object           ? NULL
              : type == TYPE_TENSOR           ? DATA_OF_TENSOR(arguments[i].object)
              : type == TYPE_DLTENSOR_POINTER ? DATA_OF_DLTENSOR(arguments[i].object)
                                              : NULL;
  }
}

/* An exchange by DLPack: `before` and `after` are the data pointers of the tensor that was given and of the new one. */
static void note_exchange(void *handle, const void *before, const void *after) {
  struct thread *thread = recording ? xref_ffi_thread() : NULL;
  if (!thread || thread->paused) return;
  void *frame = NULL;
  struct row *row = begin(thread, handle, &frame);
  if (row) __atomic_add_fetch(&row->tensors[before == after ? SAME : DIFFERENT], 1, __ATOMIC_RELAXED);
}

/* DLManagedTensor begins with its DLTensor; in DLManagedTensorVersioned that follows the version (8 bytes), the
 * manager's context, its deleter and the flags (dlpack.h). */
#define DATA_OF_VERSIONED(managed) DATA_OF_DLTENSOR((char *)(managed) + 32)
typedef int (*from_type)(void *, int32_t, int32_t, void **);
typedef int (*to_type)(void *, void **);

EXPORT int TVMFFITensorFromDLPack(void *from, int32_t alignment, int32_t contiguous, void **out) {
  static from_type real;
  if (!real) real = (from_type)find_real("TVMFFITensorFromDLPack", (void *)TVMFFITensorFromDLPack);
  void *before = DATA_OF_DLTENSOR(from);
  int code = real(from, alignment, contiguous, out);
  if (!code) note_exchange(FROM_DLPACK, before, DATA_OF_TENSOR(*out));
  return code;
}

EXPORT int TVMFFITensorFromDLPackVersioned(void *from, int32_t alignment, int32_t contiguous, void **out) {
  static from_type real;
  if (!real) real = (from_type)find_real("TVMFFITensorFromDLPackVersioned", (void *)TVMFFITensorFromDLPackVersioned);
  void *before = DATA_OF_VERSIONED(from);
  int code = real(from, alignment, contiguous, out);
  if (!code) note_exchange(FROM_DLPACK, before, DATA_OF_TENSOR(*out));
  return code;
}

EXPORT int TVMFFITensorToDLPack(void *from, void **out) {
  static to_type real;
  if (!real) real = (to_type)find_real("TVMFFITensorToDLPack", (void *)TVMFFITensorToDLPack);
  int code = real(from, out);
  if (!code) note_exchange(TO_DLPACK, DATA_OF_TENSOR(from), DATA_OF_DLTENSOR(*out));
  return code;
}

EXPORT int TVMFFITensorToDLPackVersioned(void *from, void **out) {
  static to_type real;
  if (!real) real = (to_type)find_real("TVMFFITensorToDLPackVersioned", (void *)TVMFFITensorToDLPackVersioned);
  int code = real(from, out);
  if (!code) note_exchange(TO_DLPACK, DATA_OF_TENSOR(from), DATA_OF_VERSIONED(*out));
  return code;
}

/* A Python function that becomes one of tvm_ffi, so that C++ can call it. */
typedef int (*create_type)(void *, void *, void *, void **);

EXPORT int TVMFFIFunctionCreate(void *self, void *safe_call, void *deleter, void **out) {
  static create_type real;
  if (!real) real = (create_type)find_real("TVMFFIFunctionCreate", (void *)TVMFFIFunctionCreate);
  int code = real(self, safe_call, deleter, out);
  if (!code && recording) note_origin(*out, CREATED, NULL, 0);
  return code;
}

/* Functions get their names here; libraries do so while they are loaded (c_api.h: TVMFFIMethodInfo begins with name, doc
 * and metadata, of two words each, and 64 bits of flags; then comes the method, a TVMFFIAny). */
#define METHOD(info) ((const struct any *)((const char *)(info) + 56))

static void note_named(const struct any *value) {
  if (value->type_index == TYPE_FUNCTION && value->object) note_registered(value->object);
}

EXPORT int TVMFFIFunctionSetGlobal(const void *name, void *function, int override) {
  static int (*real)(const void *, void *, int);
  if (!real) real = (int (*)(const void *, void *, int))find_real("TVMFFIFunctionSetGlobal", (void *)TVMFFIFunctionSetGlobal);
  note_registered(function);
  return real(name, function, override);
}

EXPORT int TVMFFIFunctionSetGlobalFromMethodInfo(const void *info, int override) {
  static int (*real)(const void *, int);
  if (!real)
    real = (int (*)(const void *, int))find_real("TVMFFIFunctionSetGlobalFromMethodInfo",
                                                 (void *)TVMFFIFunctionSetGlobalFromMethodInfo);
  note_named(METHOD(info));
  return real(info, override);
}

EXPORT int TVMFFITypeRegisterMethod(int32_t type_index, const void *info) {
  static int (*real)(int32_t, const void *);
  if (!real) real = (int (*)(int32_t, const void *))find_real("TVMFFITypeRegisterMethod", (void *)TVMFFITypeRegisterMethod);
  note_named(METHOD(info));
  return real(type_index, info);
}

int TVMFFIFunctionCall(void *handle, void *arguments, int32_t count, void *result) {
  if (!real_call) real_call = (call_type)find_real("TVMFFIFunctionCall", (void *)TVMFFIFunctionCall);
  struct thread *thread = recording ? xref_ffi_thread() : NULL;
  if (!thread || thread->paused) return real_call(handle, arguments, count, result);
  void *frame = NULL;
  struct row *row = begin(thread, handle, &frame);
  void *outer_frame = thread->top_frame, *outer_handle = thread->top_handle;
  uint64_t depth = thread->depth++;
  if (depth < MAX_OPEN) thread->open[depth] = (struct open_call){__atomic_add_fetch(&sequence, 1, __ATOMIC_RELAXED), frame, handle};
  thread->top_frame = frame, thread->top_handle = handle;
  const void *data[MAX_ARGUMENTS];
  data_of(arguments, count, data);
  uint64_t started = now();
  int code = real_call(handle, arguments, count, result);
  uint64_t spent = now() - started;
  struct any *value = result;
  if (!code && value && value->type_index == TYPE_FUNCTION) {
    uint64_t size = 0;
    const char *name = name_among(arguments, count, &size);
    note_origin(value->object, handle, name, size);
  }
  thread->depth = depth, thread->top_frame = outer_frame, thread->top_handle = outer_handle;
  if (row) {
    __atomic_add_fetch(&row->count, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&row->nanoseconds, spent, __ATOMIC_RELAXED);
    int kind = code ? -1 : tensors_of(arguments, count, data, value);
    if (kind >= 0) __atomic_add_fetch(&row->tensors[kind], 1, __ATOMIC_RELAXED);
  }
  return code;
}

/* Stop (0) or go on (1) recording, for the recorder's own calls. */
EXPORT void xref_ffi_record(int on) { recording = on; }

/* The same for the running thread alone. */
EXPORT void xref_ffi_pause(int on) {
  struct thread *thread = xref_ffi_thread();
  if (thread) thread->paused = (uint64_t)on;
}

/* Forget all counts: for the child of a fork, where only the forking thread lives on. Calls that it has open stay open. */
EXPORT void xref_ffi_reset(void) {
  pthread_mutex_init(&mutex, NULL);
  for (struct row *row = first; row; row = row->next) {
    row->count = row->nanoseconds = 0;
    for (int i = 0; i < 4; i++) row->tensors[i] = 0;
  }
}

/* The row after `row`, the newest one for NULL; NULL at the end. */
EXPORT struct row *xref_ffi_next(struct row *row) {
  pthread_mutex_lock(&mutex);
  row = row ? row->next : first;
  pthread_mutex_unlock(&mutex);
  return row;
}

/* The numbers of this thread's open calls, outermost first, into `out`; how many there are (at most `size`). */
EXPORT uint64_t xref_ffi_open(uint64_t *out, uint64_t size) {
  struct thread *thread = xref_ffi_thread();
  uint64_t count = !thread ? 0 : thread->depth < size ? thread->depth : size;
  if (count > MAX_OPEN) count = MAX_OPEN;
  for (uint64_t i = 0; i < count; i++) out[i] = thread->open[i].sequence;
  return count;
}
