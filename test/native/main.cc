// Runs every C++ unit test: `knp_tests CAPTURES`, the folder with the captured messages. Prints one line for
// each test, `ok NAME` or `not ok NAME`, failures before it; exits with 1 when one failed.
// `--self-test` makes a data race.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include "check.h"

namespace knp::test {
namespace {

std::string captures;
int failures = 0;

}  // namespace

std::vector<Test>& Tests() {
  static std::vector<Test> tests;
  return tests;
}

void Fail(const char* file, int line, const std::string& what) {
  failures++;
  std::printf("# %s:%d: %s\n", file, line, what.c_str());
}

std::vector<uint8_t> Capture(const std::string& name) {
  std::ifstream file(captures + "/" + name, std::ios::binary);
  if (!file) {
    std::printf("# no capture %s/%s\n", captures.c_str(), name.c_str());
    std::exit(2);
  }
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(file), {});
}

std::string Hex(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (const uint8_t byte : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof(digits), "%02x ", byte);
    text += digits;
  }
  return text;
}

int RunAll(const char* folder) {
  captures = folder;
  int failed = 0;
  for (const Test& test : Tests()) {
    failures = 0;
    test.run();
    std::printf("%s %s\n", failures == 0 ? "ok" : "not ok", test.name);
    std::fflush(stdout);
    if (failures > 0) failed++;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace knp::test

// A data race, to show that ThreadSanitizer finds one.
static int RaceOnPurpose() {
  int shared = 0;
  std::thread other([&] { shared++; });
  shared++;
  other.join();
  return shared == 2 ? 0 : 1;
}

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--self-test") == 0) return RaceOnPurpose();
  if (argc != 2) {
    std::fprintf(stderr, "usage: knp_tests CAPTURES | --self-test\n");
    return 2;
  }
  return knp::test::RunAll(argv[1]);
}
