// The output of a child and its end, as the thread that waits for them sees them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::process {

using Clock = std::chrono::steady_clock;

struct Limits {
  std::chrono::milliseconds time{};
  size_t output = 0;  // of standard output, and of standard error, in bytes
};

// The reason why a program was ended with SIGKILL.
enum class Killed : uint8_t {
  kNot,
  kLate,       // it had not ended, or not answered, within its time
  kTooLong,    // it wrote more than the limit
  kCancelled,  // another thread ended it
};

// The capacity of a pipe, as the kernel makes it (pipe(7)).
constexpr size_t kPipe = size_t{64} * 1024;

// A pipe from the program.
class Output {
 public:
  netlink::Status Open();

  // Reads what is there. False if that makes more than `limit` bytes.
  bool Take(size_t limit, std::vector<char>* buffer);

  bool open() const { return reading_.open(); }
  int reading() const { return reading_.get(); }
  int writing() const { return writing_.get(); }
  void CloseWriting() { writing_.Close(); }
  const std::string& text() const { return text_; }
  std::string TakeText();

 private:
  netlink::Descriptor reading_;
  netlink::Descriptor writing_;
  std::string text_;
};

// Lets other threads end what a program does.
class Cancellation {
 public:
  Cancellation();
  // The error with which it could not be made, if any.
  netlink::Status Check() const;
  // Any thread may call.
  void Cancel() const;
  // Readable once it is cancelled.
  int fd() const { return event_.get(); }

 private:
  netlink::Descriptor event_;
  int error_;  // of opening it
};

// Milliseconds for poll(2) until then, at least 0.
int Left(Clock::time_point deadline);

// Whether a child has ended. Does not reap it.
bool HasEnded(pid_t child);

// Waits for the end of a program that has closed its output.
Killed AwaitEnd(pid_t child, int cancelled, Clock::time_point deadline);

}  // namespace knp::process
