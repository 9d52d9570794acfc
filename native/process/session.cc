#include "process/session.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace knp::process {

using netlink::Descriptor;
using netlink::Fault;
using netlink::Status;

Session::Session(Command command, Environment environment)
    : command_(std::move(command)), environment_(std::move(environment)), buffer_(kPipe) {}

Session::~Session() {
  Close(std::chrono::milliseconds(0));
}

Status Session::Start() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) < 0) {
    return Status::Errno(errno, "socketpair");
  }
  Descriptor input(ends[0]);
  const Descriptor read_by_program(ends[1]);
  Status status = cancellation_.Check();
  if (status.ok()) status = output_.Open();
  if (status.ok()) status = errors_.Open();
  if (status.ok()) {
    status =
        command_.Start(environment_, {read_by_program.get(), output_.writing(), errors_.writing()}, &child_);
  }
  if (!status.ok()) return status;
  input_ = std::move(input);
  output_.CloseWriting();
  errors_.CloseWriting();
  started_ = true;
  return {};
}

Status Session::Exchange(const std::vector<uint8_t>& piece, const std::string& acknowledgement,
                         const Limits& limits, Answer* answer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (started_ && child_ == 0) return Status::Of(Fault::kClosed);
  if (!started_) {
    Status status = Start();
    if (!status.ok()) return status;
  }
  const Killed killed = Talk(piece, acknowledgement, limits, answer);
  if (!answer->acknowledged) return End(killed, answer);
  answer->output = output_.TakeText();
  answer->errors = errors_.TakeText();
  return {};
}

// Reads while it writes: a program that waits until its output is read does not read its input.
Killed Session::Talk(const std::vector<uint8_t>& piece, const std::string& acknowledgement,
                     const Limits& limits, Answer* answer) {
  const Clock::time_point deadline = Clock::now() + limits.time;
  size_t searched = 0;
  while (output_.open() || errors_.open()) {
    const bool writes = input_.open() && answer->written < piece.size();
    std::array<pollfd, 4> wanted{pollfd{cancellation_.fd(), POLLIN, 0}, pollfd{output_.reading(), POLLIN, 0},
                                 pollfd{errors_.reading(), POLLIN, 0},
                                 pollfd{writes ? input_.get() : -1, POLLOUT, 0}};
    if (poll(wanted.data(), wanted.size(), Left(deadline)) < 0) wanted = {};  // a signal
    if (wanted[0].revents != 0) return Killed::kCancelled;
    if (!Read(&output_, wanted[1].revents != 0, limits.output)) return Killed::kTooLong;
    if (!Read(&errors_, wanted[2].revents != 0, limits.output)) return Killed::kTooLong;
    if (output_.text().find(acknowledgement, searched) != std::string::npos) {
      answer->acknowledged = true;
      return Killed::kNot;
    }
    searched = output_.text().size() - std::min(output_.text().size(), acknowledgement.size());
    if (Clock::now() >= deadline) return Killed::kLate;
    if (wanted[3].revents != 0) Write(piece, &answer->written);
  }
  return AwaitEnd(child_, cancellation_.fd(), deadline);
}

void Session::Write(const std::vector<uint8_t>& piece, size_t* written) {
  const ssize_t count =
      send(input_.get(), piece.data() + *written, piece.size() - *written, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count >= 0) {
    *written += static_cast<size_t>(count);
  } else if (errno != EINTR && errno != EAGAIN) {
    // The program has ended, or reads no more. Its output has the reason. Nothing is written to a program
    // that ended before.
    input_.Close();
  }
}

bool Session::Read(Output* output, bool ready, size_t limit) {
  return !ready || output->Take(limit, &buffer_);
}

Status Session::End(Killed killed, Answer* answer) {
  input_.Close();
  if (killed != Killed::kNot) kill(child_, SIGKILL);
  answer->killed = killed;
  answer->output = output_.TakeText();
  answer->errors = errors_.TakeText();
  return Reap(std::exchange(child_, 0), &answer->status);
}

void Session::Close(std::chrono::milliseconds time) {
  const std::lock_guard<std::mutex> lock(mutex_);
  started_ = true;
  input_.Close();
  if (child_ == 0) return;
  // What it still writes has no reader.
  output_ = {};
  errors_ = {};
  Answer unread;
  static_cast<void>(End(AwaitEnd(child_, cancellation_.fd(), Clock::now() + time), &unread));
}

}  // namespace knp::process
