#include "netlink/named_namespace.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "netlink/network_namespace.h"

namespace knp::netlink {
namespace {

// Tries to lock the folder: one each 10 ms, for 5 s.
constexpr int kLockAttempts = 500;
constexpr timespec kLockPause{0, 10'000'000};
constexpr mode_t kFolderMode = 0755;

// A thread that makes a namespace, and the descriptor that keeps it when the thread has ended.
struct Creation {
  int fd = -1;
  const char* step = "";
  int error = 0;
};

void* Create(void* argument) {
  auto* creation = static_cast<Creation*>(argument);
  creation->step = "cannot create a network namespace";
  if (unshare(CLONE_NEWNET) == 0) {
    creation->step = "cannot open the new network namespace";
    creation->fd = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  }
  if (creation->fd < 0) creation->error = errno;
  return nullptr;
}

// unshare(2) changes the calling thread only: a thread of its own makes the namespace, and ends.
Status CreateNamespace(Descriptor* out) {
  Creation creation;
  pthread_t thread{};
  const int error = pthread_create(&thread, nullptr, Create, &creation);
  if (error != 0) return Status::Errno(error, "cannot start a thread to create a network namespace");
  pthread_join(thread, nullptr);
  if (creation.error != 0) return Status::Errno(creation.error, creation.step);
  *out = Descriptor(creation.fd);
  return {};
}

// ip-netns(8) takes this lock too: two programs at once would mount the folder on itself twice, and the
// second mount would hide what is mounted in the first.
Status LockFolder(const std::string& folder, const std::atomic<bool>& cancelled, Descriptor* out) {
  *out = Descriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!out->open()) return Status::Errno(errno, "cannot open " + folder);
  for (int attempt = 0; attempt < kLockAttempts && !cancelled; attempt++) {
    if (flock(out->get(), LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return Status::Errno(errno, "cannot lock " + folder);
    nanosleep(&kLockPause, nullptr);
  }
  return Status::Errno(EAGAIN, "another program holds the lock of " + folder);
}

// Mounts in the folder then appear in the other mount namespaces that share it, and so do their ends: a
// namespace could not end otherwise while a program has a copy of its mount.
Status ShareFolder(const std::string& folder) {
  if (mount("", folder.c_str(), "none", MS_SHARED | MS_REC, nullptr) == 0) return {};
  // EINVAL: it is no mount point.
  if (errno != EINVAL || mount(folder.c_str(), folder.c_str(), "none", MS_BIND | MS_REC, nullptr) != 0 ||
      mount("", folder.c_str(), "none", MS_SHARED | MS_REC, nullptr) != 0) {
    return Status::Errno(errno, "cannot make " + folder + " a shared mount");
  }
  return {};
}

// Creates the file of the name, and mounts a new namespace on it.
Status MountNew(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0));
  if (!file.open()) return Status::Errno(errno, "cannot create " + path);
  Descriptor made;
  Status status = CreateNamespace(&made);
  if (status.ok()) {
    const std::string source = "/proc/self/fd/" + std::to_string(made.get());
    if (mount(source.c_str(), path.c_str(), "none", MS_BIND, nullptr) != 0) {
      status = Status::Errno(errno, "cannot mount the network namespace on " + path);
    }
  }
  if (!status.ok()) unlink(path.c_str());
  return status;
}

}  // namespace

Status AddNamedNamespace(const std::string& folder, const std::string& name,
                         const std::atomic<bool>& cancelled) {
  if (mkdir(folder.c_str(), kFolderMode) != 0 && errno != EEXIST) {
    return Status::Errno(errno, "cannot create " + folder);
  }
  {
    Descriptor lock;
    Status status = LockFolder(folder, cancelled, &lock);
    if (status.ok()) status = ShareFolder(folder);
    if (!status.ok()) return status;
  }
  return MountNew(folder + "/" + name);
}

Status DeleteNamedNamespace(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  // EINVAL: it is no mount point, but a file that was left without its namespace.
  if (umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && errno != EINVAL) {
    return Status::Errno(errno, "cannot unmount " + path);
  }
  if (unlink(path.c_str()) != 0) return Status::Errno(errno, "cannot delete " + path);
  return {};
}

}  // namespace knp::netlink
