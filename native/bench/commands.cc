#include "bench/commands.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

extern char** environ;

namespace knp::bench {
namespace {

using netlink::Descriptor;
using netlink::Status;

// The text of an error that is shown.
constexpr size_t kLongestText = 1000;

Status WriteAll(int fd, const std::vector<uint8_t>& bytes) {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(fd, bytes.data() + done, bytes.size() - done);
    if (written < 0) return Status::Errno(errno, "cannot write the input of a command");
    done += static_cast<size_t>(written);
  }
  return {};
}

// posix_spawn_file_actions_t, destroyed with its scope.
class Redirections {
 public:
  Redirections(int input, int errors) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, errors, STDERR_FILENO);
  }
  ~Redirections() { posix_spawn_file_actions_destroy(&actions_); }
  Redirections(const Redirections&) = delete;
  Redirections& operator=(const Redirections&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

Status PreparedCommands::Prepare(std::vector<Command> commands, const std::vector<uint8_t>& input) {
  commands_ = std::move(commands);
  arguments_.clear();
  for (Command& command : commands_) {
    if (command.empty()) return Status::Errno(EINVAL, "a command without a program");
    std::vector<char*>& arguments = arguments_.emplace_back();
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
  }
  input_ = Descriptor(memfd_create("input", MFD_CLOEXEC));
  output_ = Descriptor(memfd_create("output", MFD_CLOEXEC));
  if (!input_.open() || !output_.open()) return Status::Errno(errno, "memfd_create");
  return WriteAll(input_.get(), input);
}

Status PreparedCommands::Run(Cost* cost) {
  const Meter meter;
  for (size_t i = 0; i < commands_.size(); i++) {
    Status status = RunOne(i, cost);
    if (!status.ok()) return status;
  }
  meter.Stop(cost);
  return {};
}

Status PreparedCommands::RunOne(size_t index, Cost* cost) {
  // The descriptors of all children share one place in the input.
  if (lseek(input_.get(), 0, SEEK_SET) < 0) return Status::Errno(errno, "lseek");
  const Redirections redirections(input_.get(), output_.get());
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments_[index][0], redirections.get(), nullptr,
                                  arguments_[index].data(), environ);
  if (failed != 0) return Status::Errno(failed, "cannot run " + commands_[index].front());
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return Status::Errno(errno, "waitpid");
  }
  cost->processes++;
  cost->system_calls += 3;
  return status == 0 ? Status{} : Failed(index, status);
}

Status PreparedCommands::Failed(size_t index, int status) {
  std::string text;
  for (const std::string& argument : commands_[index]) text += argument + " ";
  text += WIFSIGNALED(status) ? "ended by signal " + std::to_string(WTERMSIG(status))
                              : "ended with status " + std::to_string(WEXITSTATUS(status));
  std::array<char, kLongestText> output{};
  const ssize_t length = pread(output_.get(), output.data(), output.size(), 0);
  if (length > 0) text += ": " + std::string(output.data(), static_cast<size_t>(length));
  return Status::Errno(EIO, std::move(text));
}

}  // namespace knp::bench
