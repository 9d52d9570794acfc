#include "netlink/network_namespace.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace knp::netlink {
namespace {

// The namespace of the calling thread. /proc/self would be that of the first thread.
constexpr const char* kHere = "/proc/thread-self/ns/net";

struct Entry {
  int namespace_file;
  const std::function<void()>* body;
  int error;
};

void* EnterAndRun(void* argument) {
  auto* entry = static_cast<Entry*>(argument);
  if (setns(entry->namespace_file, CLONE_NEWNET) == 0) {
    (*entry->body)();
  } else {
    entry->error = errno;
  }
  return nullptr;
}

}  // namespace

void Descriptor::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Status NetworkNamespace::Open(const std::string& path, SharedNamespace* out) {
  const std::string file = path.empty() ? kHere : path;
  auto opened = std::make_shared<NetworkNamespace>();
  // Without O_NONBLOCK the open of a FIFO waits for a writer. setns(2) refuses it then, as any file that is
  // no namespace.
  opened->file_ = Descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const bool may_be_masked = path.empty() && errno != EMFILE && errno != ENFILE;
  if (!opened->file_.open() && !may_be_masked) {
    return Status::OpenNamespace(errno, file);
  }
  *out = std::move(opened);
  return {};
}

// Whether the calling thread is in the namespace: entering it needs a privilege, staying does not.
bool NetworkNamespace::IsHere() const {
  struct stat own {};
  struct stat here {};
  return fstat(file_.get(), &own) == 0 && stat(kHere, &here) == 0 && own.st_dev == here.st_dev &&
         own.st_ino == here.st_ino;
}

Status NetworkNamespace::Run(const std::function<void()>& body) const {
  if (!file_.open() || IsHere()) {
    body();
    return {};
  }
  Entry entry{file_.get(), &body, 0};
  pthread_t thread{};
  // Not std::thread: it reports failure by an exception.
  const int error = pthread_create(&thread, nullptr, EnterAndRun, &entry);
  if (error != 0) return Status::Errno(error, "cannot start a thread to enter the network namespace");
  pthread_join(thread, nullptr);
  if (entry.error != 0) return Status::EnterNamespace(entry.error);
  return {};
}

Status NetworkNamespace::OpenSocket(int domain, int type, int protocol, Descriptor* out) const {
  int fd = -1;
  int error = 0;
  Status status = Run([&] {
    fd = socket(domain, type | SOCK_CLOEXEC, protocol);
    error = errno;
  });
  if (!status.ok()) return status;
  if (fd < 0) return Status::Errno(error, "cannot open a netlink socket");
  *out = Descriptor(fd);
  return {};
}

}  // namespace knp::netlink
