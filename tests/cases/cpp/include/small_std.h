// The little of the standard library that the cases need, so that they parse in milliseconds and on any machine.
#pragma once

namespace std {

using size_t = decltype(sizeof(0));

template <typename T>
struct remove_reference {
  using type = T;
};
template <typename T>
struct remove_reference<T&> {
  using type = T;
};

template <typename T>
typename remove_reference<T>::type&& move(T&& value) {
  return static_cast<typename remove_reference<T>::type&&>(value);
}

template <typename T>
class initializer_list {
 public:
  const T* begin() const { return first_; }
  const T* end() const { return first_ + size_; }

 private:
  const T* first_;
  size_t size_;
};

class string {
 public:
  string();
  string(const char* text);
  size_t size() const;
  const char* c_str() const;
  size_t rfind(const string& text, size_t at) const;
  string& operator+=(const string& text);
  string substr(size_t at, size_t count = -1) const;
};
string operator+(const string& left, const string& right);
string operator+(const string& left, const char* right);
string operator+(const char* left, const string& right);
string to_string(int value);

template <typename Signature>
class function;
template <typename R, typename... Args>
class function<R(Args...)> {
 public:
  function();
  template <typename F>
  function(F callable) {}
  R operator()(Args... args) const;
};

template <typename A, typename B>
struct pair {
  A first;
  B second;
};

template <typename T>
class vector {
 public:
  vector();
  vector(initializer_list<T> values);
  T* begin() const;
  T* end() const;
  void push_back(const T& value);
};

}  // namespace std
