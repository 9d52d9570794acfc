#include "process/run.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <utility>

namespace knp::process {

using netlink::Descriptor;
using netlink::Status;
using Clock = std::chrono::steady_clock;

namespace {

// The capacity of a pipe, as the kernel makes it (pipe(7)).
constexpr size_t kPipe = size_t{64} * 1024;
// Pauses between looks at a child that has closed its output, and ends within microseconds as a rule.
constexpr std::chrono::microseconds kFirstPause{50};
constexpr std::chrono::microseconds kLongestPause{20'000};

// Milliseconds for poll(2) until then, at least 0.
int Left(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

// Without reaping it.
bool HasEnded(pid_t child) {
  siginfo_t ended{};
  // An error (somebody else reaped it) is reported by the call that reaps it here.
  return waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) < 0 ||
         ended.si_pid != 0;
}

// A pipe from the program.
class Output {
 public:
  Status Open() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) < 0) return Status::Errno(errno, "pipe2");
    reading_ = Descriptor(ends[0]);
    writing_ = Descriptor(ends[1]);
    // Only this end: the program's end is another open file.
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0) return Status::Errno(errno, "fcntl");
    return {};
  }

  // Reads what is there. False if that makes more than `limit` bytes.
  bool Take(size_t limit, std::vector<char>* buffer) {
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

  bool open() const { return reading_.open(); }
  int reading() const { return reading_.get(); }
  int writing() const { return writing_.get(); }
  void CloseWriting() { writing_.Close(); }
  std::string TakeText() { return std::move(text_); }

 private:
  Descriptor reading_;
  Descriptor writing_;
  std::string text_;
};

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

// Waits for the end of a program that has closed its output. Looks at it again and again: a descriptor to
// wait for (pidfd_open(2)) needs Linux 5.3.
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

}  // namespace

Run::Run() : cancelled_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), error_(cancelled_.open() ? 0 : errno) {}

void Run::Cancel() {
  const uint64_t one = 1;
  static_cast<void>(!write(cancelled_.get(), &one, sizeof(one)));
}

Status Run::Execute(const Command& command, const Environment& environment, const std::vector<uint8_t>& input,
                    const Limits& limits, End* end) {
  if (error_ != 0) return Status::Errno(error_, "eventfd");
  const Clock::time_point deadline = Clock::now() + limits.time;
  Descriptor file;
  Output output;
  Output errors;
  Status status = input.empty() ? Status{} : OpenInput(input, &file);
  if (status.ok()) status = output.Open();
  if (status.ok()) status = errors.Open();
  if (!status.ok()) return status;
  pid_t child = 0;
  status = command.Start(environment, {file.get(), output.writing(), errors.writing()}, &child);
  if (!status.ok()) return status;
  output.CloseWriting();
  errors.CloseWriting();
  end->killed = ReadAll(&output, &errors, cancelled_.get(), limits.output, deadline);
  if (end->killed == Killed::kNot) end->killed = AwaitEnd(child, cancelled_.get(), deadline);
  // It is a child until it is reaped: no other process can have its id.
  if (end->killed != Killed::kNot) kill(child, SIGKILL);
  status = Reap(child, &end->status);
  end->output = output.TakeText();
  end->errors = errors.TakeText();
  return status;
}

}  // namespace knp::process
