#include "bench/native/commands.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace knp::bench {
namespace {

using netlink::Descriptor;
using netlink::Status;

// The text of an error that is shown.
constexpr size_t kLongestText = 1000;

}  // namespace

Status PreparedCommands::Prepare(std::vector<std::vector<std::string>> commands,
                                 const std::vector<uint8_t>& input) {
  commands_.clear();
  for (std::vector<std::string>& words : commands) {
    Status status = commands_.emplace_back().Prepare(std::move(words), environment_);
    if (!status.ok()) return status;
  }
  output_ = Descriptor(memfd_create("output", MFD_CLOEXEC));
  if (!output_.open()) return Status::Errno(errno, "memfd_create");
  return process::OpenInput({{input.data(), input.size()}}, &input_);
}

Status PreparedCommands::Run(Cost* cost) {
  const Meter meter;
  for (const process::Command& command : commands_) {
    Status status = RunOne(command, cost);
    if (!status.ok()) return status;
  }
  meter.Stop(cost);
  return {};
}

Status PreparedCommands::RunOne(const process::Command& command, Cost* cost) {
  // The descriptors of all children share one place in the input.
  if (lseek(input_.get(), 0, SEEK_SET) < 0) return Status::Errno(errno, "lseek");
  pid_t child = 0;
  Status started = command.Start(environment_, {input_.get(), -1, output_.get()}, &child);
  if (!started.ok()) return started;
  int status = 0;
  Status reaped = process::Reap(child, &status);
  if (!reaped.ok()) return reaped;
  cost->processes++;
  cost->system_calls += 4;
  return status == 0 ? Status{} : Failed(command, status);
}

Status PreparedCommands::Failed(const process::Command& command, int status) {
  std::string text;
  for (const std::string& argument : command.words()) text += argument + " ";
  text += WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                              : "ended with status " + std::to_string(WEXITSTATUS(status));
  std::array<char, kLongestText> output{};
  const ssize_t length = pread(output_.get(), output.data(), output.size(), 0);
  if (length > 0) text += ": " + std::string(output.data(), static_cast<size_t>(length));
  return Status::Errno(EIO, std::move(text));
}

}  // namespace knp::bench
