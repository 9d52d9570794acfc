#include "process/session.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace knp::process {

using netlink::Descriptor;
using netlink::FailureKind;
using netlink::Status;

// Pieces of one system call.
constexpr size_t kMostPieces = 64;

// The rest of an input.
class Unwritten {
 public:
  explicit Unwritten(const Input& input) : next_(input.data()), end_(input.data() + input.size()) {
    Remove(0);
  }

  bool empty() const { return next_ == end_; }

  // Sets the first pieces; returns their number.
  size_t Show(std::array<iovec, kMostPieces>* pieces) const {
    const size_t count = std::min(static_cast<size_t>(end_ - next_), kMostPieces);
    for (size_t i = 0; i < count; i++) {
      const size_t done = i == 0 ? done_ : 0;
      (*pieces)[i] = {const_cast<uint8_t*>(next_[i].data + done), next_[i].size - done};
    }
    return count;
  }

  // Removes the first bytes, and pieces without bytes.
  void Remove(size_t size) {
    done_ += size;
    for (; next_ != end_ && done_ >= next_->size; next_++) done_ -= next_->size;
  }

 private:
  const Bytes* next_;
  const Bytes* const end_;
  size_t done_ = 0;  // of the next piece, in bytes
};

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

Status Session::Exchange(const Input& input, const std::string& acknowledgement, const Limits& limits,
                         Answer* answer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (started_ && child_ == 0) return Status::Of(FailureKind::kClosed);
  if (!started_) {
    Status status = Start();
    if (!status.ok()) return status;
  }
  const Killed killed = Talk(input, acknowledgement, limits, answer);
  if (!answer->acknowledged) return End(killed, answer);
  answer->output = output_.TakeText();
  answer->errors = errors_.TakeText();
  return {};
}

// Reads while it writes: a program that waits until its output is read does not read its input.
Killed Session::Talk(const Input& input, const std::string& acknowledgement, const Limits& limits,
                     Answer* answer) {
  const Clock::time_point deadline = Clock::now() + limits.time;
  Unwritten unwritten(input);
  size_t searched = 0;
  while (output_.open() || errors_.open()) {
    const bool writes = input_.open() && !unwritten.empty();
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
    if (wanted[3].revents != 0) answer->written += Write(&unwritten);
  }
  return AwaitEnd(child_, cancellation_.fd(), deadline);
}

size_t Session::Write(Unwritten* input) {
  std::array<iovec, kMostPieces> pieces{};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = input->Show(&pieces);
  const ssize_t count = sendmsg(input_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count >= 0) {
    input->Remove(static_cast<size_t>(count));
    return static_cast<size_t>(count);
  }
  // The program has ended, or reads no more. Its output has the reason. Nothing is written to a program that
  // ended before.
  if (errno != EINTR && errno != EAGAIN) input_.Close();
  return 0;
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
