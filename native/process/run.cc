#include "process/run.h"

#include <poll.h>

#include <array>
#include <csignal>

namespace knp::process {

using netlink::Descriptor;
using netlink::Status;

namespace {

// Reads both to their ends.
Killed ReadAll(Output* output, Output* errors, int cancelled, size_t limit, Clock::time_point deadline) {
  std::vector<char> buffer(kPipe);
  while (output->open() || errors->open()) {
    // poll(2) ignores a negative descriptor.
    std::array<pollfd, 3> wanted{pollfd{cancelled, POLLIN, 0}, pollfd{output->reading(), POLLIN, 0},
                                 pollfd{errors->reading(), POLLIN, 0}};
    if (poll(wanted.data(), wanted.size(), Left(deadline)) < 0) wanted = {};  // a signal
    if (wanted[0].revents != 0) return Killed::kCancelled;
    if (wanted[1].revents != 0 && !output->Take(limit, &buffer)) return Killed::kTooLong;
    if (wanted[2].revents != 0 && !errors->Take(limit, &buffer)) return Killed::kTooLong;
    if (Clock::now() >= deadline) return Killed::kLate;
  }
  return Killed::kNot;
}

}  // namespace

Status Run::Execute(const Command& command, const Environment& environment, const Input& input,
                    const Limits& limits, End* end) {
  const Clock::time_point deadline = Clock::now() + limits.time;
  Descriptor file;
  Output output;
  Output errors;
  Status status = cancellation_.Check();
  if (status.ok() && !input.empty()) status = OpenInput(input, &file);
  if (status.ok()) status = output.Open();
  if (status.ok()) status = errors.Open();
  if (!status.ok()) return status;
  pid_t child = 0;
  status = command.Start(environment, {file.get(), output.writing(), errors.writing()}, &child);
  if (!status.ok()) return status;
  output.CloseWriting();
  errors.CloseWriting();
  const int cancelled = cancellation_.fd();
  end->killed = ReadAll(&output, &errors, cancelled, limits.output, deadline);
  if (end->killed == Killed::kNot) end->killed = AwaitEnd(child, cancelled, deadline);
  // It is a child until it is reaped: no other process can have its id.
  if (end->killed != Killed::kNot) kill(child, SIGKILL);
  status = Reap(child, &end->status);
  end->output = output.TakeText();
  end->errors = errors.TakeText();
  return status;
}

}  // namespace knp::process
