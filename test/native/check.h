// The C++ unit tests: TEST registers one, CHECK and CHECK_EQUAL note a failure and continue.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

namespace knp::test {

struct Test {
  const char* name;
  void (*run)();
};

// Every test of the executable.
std::vector<Test>& Tests();
// Notes a failure of the running test.
void Fail(const char* file, int line, const std::string& what);
// Bytes of a capture: `ipvs-info.reply`. Ends the program when there is none of that name.
std::vector<uint8_t> Capture(const std::string& name);
// Text of bytes for failures: `0a 60 00 01`.
std::string Hex(const std::vector<uint8_t>& bytes);

struct Registration {
  Registration(const char* name, void (*run)()) { Tests().push_back({name, run}); }
};

template <typename T>
std::string Show(const T& value) {
  std::ostringstream out;
  if constexpr (std::is_enum_v<T>) {
    out << static_cast<int>(value);
  } else if constexpr (sizeof(T) == 1 && std::is_integral_v<T>) {
    out << +value;
  } else if constexpr (std::is_same_v<T, std::vector<uint8_t>>) {
    out << Hex(value);
  } else {
    out << value;
  }
  return out.str();
}

template <typename A, typename B>
void CheckEqual(const char* file, int line, const char* expression, const A& found, const B& expected) {
  if (found == static_cast<A>(expected)) return;
  Fail(file, line,
       std::string(expression) + " is " + Show(found) + ", expected " + Show(static_cast<A>(expected)));
}

}  // namespace knp::test

#define TEST(name)                                                                                    \
  static void name();                                                                                 \
  static const knp::test::Registration name##_registration(#name, name); /* NOLINT(cert-err58-cpp) */ \
  static void name()
#define CHECK(condition) \
  if (!(condition)) knp::test::Fail(__FILE__, __LINE__, #condition)
#define CHECK_EQUAL(found, expected) knp::test::CheckEqual(__FILE__, __LINE__, #found, found, expected)
