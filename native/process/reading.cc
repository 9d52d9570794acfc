#include "process/reading.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace knp::process {

using netlink::FailureKind;
using netlink::Status;

Reading::Reading(Command command, Environment environment)
    : command_(std::move(command)), environment_(std::move(environment)), buffer_(kPipe) {}

Reading::~Reading() {
  Close();
}

Status Reading::Start() {
  Status status = cancellation_.Check();
  if (status.ok()) status = output_.Open();
  if (status.ok()) status = errors_.Open();
  if (status.ok()) {
    status = command_.Start(environment_, {-1, output_.writing(), errors_.writing()}, &child_);
  }
  if (!status.ok()) return status;
  output_.CloseWriting();
  errors_.CloseWriting();
  started_ = true;
  return {};
}

Status Reading::Read(size_t size, const Limits& limits, Piece* piece) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (started_ && child_ == 0) return Status::Of(FailureKind::kClosed);
  if (!started_) {
    Status status = Start();
    if (!status.ok()) return status;
  }
  piece->killed = ReadSome(size, limits, &piece->last);
  piece->bytes = output_.TakeText();
  if (piece->killed == Killed::kNot && !piece->last) return {};
  piece->last = true;
  piece->errors = errors_.TakeText();
  return End(piece->killed, &piece->status);
}

Killed Reading::ReadSome(size_t size, const Limits& limits, bool* ended) {
  const Clock::time_point deadline = Clock::now() + limits.time;
  const int cancelled = cancellation_.fd();
  while (output_.open() || errors_.open()) {
    std::array<pollfd, 3> wanted{pollfd{cancelled, POLLIN, 0}, pollfd{output_.reading(), POLLIN, 0},
                                 pollfd{errors_.reading(), POLLIN, 0}};
    if (poll(wanted.data(), wanted.size(), Left(deadline)) < 0) wanted = {};  // a signal
    if (wanted[0].revents != 0) return Killed::kCancelled;
    if (wanted[2].revents != 0 && !errors_.Take(limits.output, &buffer_)) return Killed::kTooLong;
    if (wanted[1].revents != 0 && !output_.Take(size, &buffer_)) return Killed::kNot;
    if (Clock::now() >= deadline) return Killed::kLate;
  }
  *ended = true;
  return AwaitEnd(child_, cancelled, deadline);
}

Status Reading::End(Killed killed, int* status) {
  // It is a child until it is reaped: no other process can have its id.
  if (killed != Killed::kNot) kill(child_, SIGKILL);
  output_ = {};
  errors_ = {};
  return Reap(std::exchange(child_, 0), status);
}

void Reading::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  started_ = true;
  int status = 0;
  if (child_ != 0) static_cast<void>(End(Killed::kCancelled, &status));
}

}  // namespace knp::process
