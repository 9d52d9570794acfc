// One run of a program to its end, with its input and output.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "netlink/status.h"
#include "process/child.h"
#include "process/command.h"

namespace knp::process {

struct End {
  int status = 0;  // of waitpid(2)
  Killed killed = Killed::kNot;
  std::string output;  // standard output, up to the end
  std::string errors;  // standard error
};

class Run {
 public:
  // Runs the command, and waits until it has ended and its output is closed: children of its own that keep
  // the output open count as part of it. The child is reaped in every case. A Status is a failure to start
  // it.
  netlink::Status Execute(const Command& command, const Environment& environment, const Input& input,
                          const Limits& limits, End* end);

  // Ends the program that runs, or the next one. Any thread may call.
  void Cancel() { cancellation_.Cancel(); }

 private:
  Cancellation cancellation_;
};

}  // namespace knp::process
