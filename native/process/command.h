// Programs, started by posix_spawn(3): it shares the memory of this process with the child until the program
// runs, where fork(2) copies the page tables, which takes longer the more memory the process has.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::process {

// Environment variables of a program.
class Environment {
 public:
  // `variables`: NAME=value.
  explicit Environment(std::vector<std::string> variables);
  // Those of this process. Only for the thread that may change them, which is JavaScript's main thread.
  static Environment OfThisProcess();
  Environment(Environment&&) = default;
  Environment& operator=(Environment&&) = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  // The value of a variable; null if there is none.
  const char* Find(const std::string& name) const;
  char* const* pointers() const { return pointers_.data(); }

 private:
  std::vector<std::string> variables_;
  std::vector<char*> pointers_;
};

// Descriptors that a program has as its standard streams; -1 is /dev/null. It has no others of this process,
// all of which are opened with O_CLOEXEC.
struct Streams {
  int input = -1;
  int output = -1;
  int errors = -1;
};

// A program with its arguments.
class Command {
 public:
  Command() = default;
  Command(Command&&) = default;
  Command& operator=(Command&&) = default;
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  // `words`: program and arguments. A program without a slash is looked up in the PATH of the environment, as
  // execvp(3) does. ENOENT or EACCES if there is none that can run, EINVAL without words or for a word with a
  // zero byte.
  netlink::Status Prepare(std::vector<std::string> words, const Environment& environment);

  // Starts it, in the namespaces of the calling thread, with no signal blocked or ignored. The caller reaps
  // the child, with Reap(). ENOEXEC for a script without an interpreter line. A child that is not reaped when
  // this process calls exit(3) is ended with SIGKILL.
  netlink::Status Start(const Environment& environment, const Streams& streams, pid_t* child) const;

  const std::vector<std::string>& words() const { return words_; }

 private:
  std::vector<std::string> words_;
  std::vector<char*> arguments_;
  std::string file_;
};

// Number of programs that this process has started by Command::Start().
uint64_t StartedPrograms();

// Bytes of another owner.
struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
};
// The input of a program, in pieces: it may be too long to be copied into one.
using Input = std::vector<Bytes>;

// Opens a file in memory with this input, to be read from its beginning.
netlink::Status OpenInput(const Input& input, netlink::Descriptor* out);

// Waits for the end of a child that Command::Start() has started, and reaps it. `status` is that of
// waitpid(2).
netlink::Status Reap(pid_t child, int* status);

}  // namespace knp::process
