#include "process/command.h"

#include <fcntl.h>
#include <paths.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <utility>

namespace knp::process {
namespace {

using netlink::Descriptor;
using netlink::Status;

std::atomic<uint64_t> started_programs{0};

// The children that are not reaped. No other process can have the id of one.
class Children {
 public:
  // exit(3) runs on the thread that ends the process, while those that wait for children still run. It does
  // not run the hooks of an environment of Node.js when JavaScript calls process.exit().
  static Children* Get() {
    static auto* children = [] {
      static_cast<void>(std::atexit([] { Get()->EndAll(); }));
      return new Children;  // for ever: the threads need it to the last
    }();
    return children;
  }

  int Start(const std::function<int(pid_t*)>& spawn, pid_t* child) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const int error = spawn(child);
    if (error == 0) children_.insert(*child);
    return error;
  }

  Status Reap(pid_t child, int* status) {
    siginfo_t ended{};
    // Without the lock, and without reaping it.
    while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) < 0) {
      if (errno != EINTR) break;  // waitpid() reports it
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    children_.erase(child);
    while (waitpid(child, status, 0) < 0) {
      if (errno != EINTR) return Status::Errno(errno, "waitpid");
    }
    return {};
  }

 private:
  // Keeps the lock: from here on no program is started, and no thread goes on with one that was ended.
  void EndAll() {
    mutex_.lock();
    for (const pid_t child : children_) kill(child, SIGKILL);
  }

  std::mutex mutex_;
  std::set<pid_t> children_;
};

std::vector<char*> PointersOf(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts->size() + 1);
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// 0, or the reason why a file cannot be run.
int FindObstacle(const std::string& file) {
  struct stat found {};
  if (stat(file.c_str(), &found) < 0) return errno;
  if (!S_ISREG(found.st_mode)) return EACCES;
  return access(file.c_str(), X_OK) < 0 ? errno : 0;
}

// Sets `file` to the first file that can be run. EACCES is reported if a folder has one that cannot.
int LookUp(const std::string& program, const std::string& folders, std::string* file) {
  int obstacle = ENOENT;
  for (size_t start = 0; start <= folders.size();) {
    const size_t end = std::min(folders.find(':', start), folders.size());
    const std::string folder = folders.substr(start, end - start);
    *file = (folder.empty() ? "." : folder) + "/" + program;
    const int error = FindObstacle(*file);
    if (error == 0) return 0;
    if (error == EACCES) obstacle = EACCES;
    start = end + 1;
  }
  return obstacle;
}

// Arguments of posix_spawn(3) about descriptors, freed with their scope.
class FileActions {
 public:
  explicit FileActions(const Streams& streams) {
    posix_spawn_file_actions_init(&actions_);
    Add(streams.input, STDIN_FILENO, O_RDONLY);
    Add(streams.output, STDOUT_FILENO, O_WRONLY);
    Add(streams.errors, STDERR_FILENO, O_WRONLY);
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  void Add(int from, int to, int flags) {
    if (from >= 0) {
      posix_spawn_file_actions_adddup2(&actions_, from, to);
    } else {
      posix_spawn_file_actions_addopen(&actions_, to, _PATH_DEVNULL, flags, 0);
    }
  }

  posix_spawn_file_actions_t actions_{};
};

// The same about signals. Node.js ignores SIGPIPE, and a program keeps ignored and blocked signals.
class DefaultSignals {
 public:
  DefaultSignals() {
    posix_spawnattr_init(&attributes_);
    sigset_t none{};
    sigemptyset(&none);
    sigset_t all{};
    sigfillset(&all);
    sigdelset(&all, SIGKILL);
    sigdelset(&all, SIGSTOP);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~DefaultSignals() { posix_spawnattr_destroy(&attributes_); }
  DefaultSignals(const DefaultSignals&) = delete;
  DefaultSignals& operator=(const DefaultSignals&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

}  // namespace

Environment::Environment(std::vector<std::string> variables)
    : variables_(std::move(variables)), pointers_(PointersOf(&variables_)) {}

Environment Environment::OfThisProcess() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; variable++) {
    variables.emplace_back(*variable);
  }
  return Environment(std::move(variables));
}

const char* Environment::Find(const std::string& name) const {
  for (const std::string& variable : variables_) {
    if (variable.size() > name.size() && variable[name.size()] == '=' &&
        variable.compare(0, name.size(), name) == 0) {
      return variable.c_str() + name.size() + 1;
    }
  }
  return nullptr;
}

Status Command::Prepare(std::vector<std::string> words, const Environment& environment) {
  if (words.empty() || words.front().empty()) return Status::Errno(EINVAL, "a command without a program");
  for (const std::string& word : words) {
    if (word.find('\0') != std::string::npos) return Status::Errno(EINVAL, "a zero byte in a command");
  }
  words_ = std::move(words);
  arguments_ = PointersOf(&words_);
  const std::string& program = words_.front();
  if (program.find('/') != std::string::npos) {
    file_ = program;
    return {};
  }
  const char* folders = environment.Find("PATH");
  const int error = LookUp(program, folders != nullptr ? folders : _PATH_DEFPATH, &file_);
  return error == 0 ? Status{} : Status::Errno(error, "cannot run " + program);
}

Status Command::Start(const Environment& environment, const Streams& streams, pid_t* child) const {
  const FileActions files(streams);
  const DefaultSignals signals;
  const auto spawn = [&](pid_t* started) {
    return posix_spawn(started, file_.c_str(), files.get(), signals.get(), arguments_.data(),
                       environment.pointers());
  };
  const int error = Children::Get()->Start(spawn, child);
  if (error != 0) return Status::Errno(error, "cannot run " + words_.front());
  started_programs++;
  return {};
}

uint64_t StartedPrograms() {
  return started_programs;
}

Status OpenInput(const Input& input, Descriptor* out) {
  Descriptor file(memfd_create("input", MFD_CLOEXEC));
  if (!file.open()) return Status::Errno(errno, "memfd_create");
  size_t place = 0;
  for (const Bytes& piece : input) {
    for (size_t done = 0; done < piece.size;) {
      const ssize_t written =
          pwrite(file.get(), piece.data + done, piece.size - done, static_cast<off_t>(place + done));
      if (written < 0 && errno != EINTR) return Status::Errno(errno, "cannot write the input of a program");
      if (written > 0) done += static_cast<size_t>(written);
    }
    place += piece.size;
  }
  *out = std::move(file);
  return {};
}

Status Reap(pid_t child, int* status) {
  return Children::Get()->Reap(child, status);
}

}  // namespace knp::process
