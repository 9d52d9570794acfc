// Named network namespaces, in a folder of their own. What needs a mount runs in a child process with a mount
// namespace of its own, which a user without privileges may have in a user namespace.
#include "netlink/named_namespace.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

#include "check.h"

namespace {

using knp::netlink::AddNamedNamespace;
using knp::netlink::DeleteNamedNamespace;

const std::atomic<bool> kGoOn{false};

// A folder below /tmp, and files in it, which are removed.
class Folder {
 public:
  Folder() : path_("/tmp/knp-namespaces-XXXXXX") { CHECK(mkdtemp(path_.data()) != nullptr); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    for (const char* name : {"blue", "red", "file"}) unlink(At(name).c_str());
    rmdir(path_.c_str());
  }
  const std::string& path() const { return path_; }
  std::string At(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void MakeFile(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  CHECK(fd >= 0);
  close(fd);
}

bool IsNamespace(const std::string& path) {
  struct statfs status {};
  return statfs(path.c_str(), &status) == 0 && status.f_type == NSFS_MAGIC;
}

ino_t InodeOf(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// The life of two names, in a mount namespace of our own: the number of the step that failed, or 0.
int MountedSteps(const std::string& folder) {
  // As root, a user namespace would take the rights to our own folder.
  const int flags = CLONE_NEWNS | (geteuid() == 0 ? 0 : CLONE_NEWUSER);
  if (unshare(flags) != 0 || mount("", "/", "none", MS_PRIVATE | MS_REC, nullptr) != 0) return 1;
  const ino_t own = InodeOf("/proc/self/ns/net");
  const std::string blue = folder + "/blue";
  const std::string red = folder + "/red";
  if (!AddNamedNamespace(folder, "blue", kGoOn).ok() || !IsNamespace(blue)) return 2;
  if (InodeOf(blue) == own || InodeOf("/proc/self/ns/net") != own) return 3;
  // The folder is a mount point now: a second one on top of it would hide the first name.
  if (!AddNamedNamespace(folder, "red", kGoOn).ok() || !IsNamespace(blue) || !IsNamespace(red)) return 4;
  if (InodeOf(blue) == InodeOf(red)) return 5;
  if (!AddNamedNamespace(folder, "blue", kGoOn).is_errno(EEXIST) || !IsNamespace(blue)) return 6;
  if (!DeleteNamedNamespace(folder, "blue").ok() || access(blue.c_str(), F_OK) == 0) return 7;
  if (!DeleteNamedNamespace(folder, "blue").is_errno(ENOENT)) return 8;
  if (!IsNamespace(red) || !DeleteNamedNamespace(folder, "red").ok()) return 9;
  // A file that was left without its namespace.
  const int fd = open(blue.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || close(fd) != 0 || !DeleteNamedNamespace(folder, "blue").ok()) return 10;
  return access(blue.c_str(), F_OK) == 0 ? 11 : 0;
}

}  // namespace

TEST(NamedNamespacesAreMountedAndDeleted) {
  const Folder folder;
  const pid_t child = fork();
  if (child == 0) _exit(MountedSteps(folder.path()));
  int status = -1;
  CHECK_EQUAL(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQUAL(WEXITSTATUS(status), 0);
}

TEST(ANamedNamespaceNeedsAFolder) {
  const Folder folder;
  MakeFile(folder.At("file"));
  CHECK(AddNamedNamespace(folder.At("file"), "blue", kGoOn).is_errno(ENOTDIR));
  CHECK(AddNamedNamespace(folder.At("none") + "/below", "blue", kGoOn).is_errno(ENOENT));
}

TEST(TheLockOfTheFolderIsAwaitedUntilTheCallIsCancelled) {
  const Folder folder;
  const int holder = open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  CHECK_EQUAL(flock(holder, LOCK_EX), 0);
  std::atomic<bool> cancelled{false};
  std::thread canceller([&cancelled] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    cancelled = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const knp::netlink::Status status = AddNamedNamespace(folder.path(), "blue", cancelled);
  const auto waited = std::chrono::steady_clock::now() - start;
  canceller.join();
  close(holder);
  CHECK(status.is_errno(EAGAIN));
  CHECK(status.message.find("another program holds the lock") != std::string::npos);
  // Without the cancellation, it waits for 5 s.
  CHECK(waited >= std::chrono::milliseconds(40) && waited < std::chrono::seconds(4));
  CHECK(access(folder.At("blue").c_str(), F_OK) != 0);
}
