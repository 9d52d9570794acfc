#include "process/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <utility>

namespace knp::process {

using netlink::Descriptor;
using netlink::Status;

namespace {

// Pauses between looks at a child that has closed its output, and ends within microseconds as a rule.
constexpr std::chrono::microseconds kFirstPause{50};
constexpr std::chrono::microseconds kLongestPause{20'000};

}  // namespace

Status Output::Open() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) < 0) return Status::Errno(errno, "pipe2");
  reading_ = Descriptor(ends[0]);
  writing_ = Descriptor(ends[1]);
  // Only this end: the program's end is another open file.
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) return Status::Errno(errno, "fcntl");
  return {};
}

bool Output::Take(size_t limit, std::vector<char>* buffer) {
  while (text_.size() <= limit) {
    const ssize_t count = read(reading_.get(), buffer->data(), buffer->size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) {
      reading_.Close();
      return true;
    }
    text_.append(buffer->data(), static_cast<size_t>(count));
  }
  return false;
}

std::string Output::TakeText() {
  return std::exchange(text_, {});
}

Cancellation::Cancellation()
    : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), error_(event_.open() ? 0 : errno) {}

Status Cancellation::Check() const {
  return error_ == 0 ? Status{} : Status::Errno(error_, "eventfd");
}

void Cancellation::Cancel() const {
  const uint64_t one = 1;
  static_cast<void>(!write(event_.get(), &one, sizeof(one)));
}

int Left(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

bool HasEnded(pid_t child) {
  siginfo_t ended{};
  // An error (somebody else reaped it) is reported by the call that reaps it here.
  return waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) < 0 ||
         ended.si_pid != 0;
}

// Looks at the child again and again: a descriptor to wait for (pidfd_open(2)) needs Linux 5.3.
Killed AwaitEnd(pid_t child, int cancelled, Clock::time_point deadline) {
  for (std::chrono::microseconds pause = kFirstPause; !HasEnded(child);) {
    if (Clock::now() >= deadline) return Killed::kLate;
    pollfd wanted{cancelled, POLLIN, 0};
    const timespec time{0, static_cast<long>(std::chrono::nanoseconds(pause).count())};
    if (ppoll(&wanted, 1, &time, nullptr) > 0) return Killed::kCancelled;
    pause = std::min(pause * 2, kLongestPause);
  }
  return Killed::kNot;
}

}  // namespace knp::process
