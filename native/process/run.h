// One run of a program to its end, with its input and output.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"
#include "process/command.h"

namespace knp::process {

struct Limits {
  std::chrono::milliseconds time{};
  size_t output = 0;  // of standard output, and of standard error, in bytes
};

// The reason why a program was ended with SIGKILL.
enum class Killed : uint8_t {
  kNot,
  kLate,       // it had not ended within its time
  kTooLong,    // it wrote more than the limit
  kCancelled,  // Cancel()
};

struct End {
  int status = 0;  // of waitpid(2)
  Killed killed = Killed::kNot;
  std::string output;  // standard output, up to the end
  std::string errors;  // standard error
};

class Run {
 public:
  Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // Runs the command, and waits until it has ended and its output is closed: children of its own that keep
  // the output open count as part of it. The child is reaped in every case. A Status is a failure to start
  // it.
  netlink::Status Execute(const Command& command, const Environment& environment,
                          const std::vector<uint8_t>& input, const Limits& limits, End* end);

  // Ends the program that runs, or the next one. Any thread may call.
  void Cancel();

 private:
  netlink::Descriptor cancelled_;
  int error_;  // of opening it
};

}  // namespace knp::process
