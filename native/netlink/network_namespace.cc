#include "netlink/network_namespace.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace knp::netlink {
namespace {

struct Opening {
  int namespace_file;
  int domain;
  int type;
  int protocol;
  int fd;
  int error;
};

void* EnterAndOpen(void* argument) {
  auto* opening = static_cast<Opening*>(argument);
  if (setns(opening->namespace_file, CLONE_NEWNET) == 0) {
    opening->fd = socket(opening->domain, opening->type, opening->protocol);
  }
  opening->error = opening->fd < 0 ? errno : 0;
  return nullptr;
}

}  // namespace

void Descriptor::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

Status NetworkNamespace::Open(const std::string& path, NetworkNamespace* out) {
  *out = NetworkNamespace();
  if (path.empty()) return {};
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Status::Errno(errno, "cannot open network namespace " + path);
  out->file_ = Descriptor(fd);
  return {};
}

Status NetworkNamespace::OpenSocket(int domain, int type, int protocol, Descriptor* out) const {
  Opening opening{file_.get(), domain, type | SOCK_CLOEXEC, protocol, -1, 0};
  if (!file_.open()) {
    opening.fd = socket(domain, opening.type, protocol);
    opening.error = opening.fd < 0 ? errno : 0;
  } else {
    pthread_t thread{};
    // Not std::thread: it reports failure by an exception.
    const int error = pthread_create(&thread, nullptr, EnterAndOpen, &opening);
    if (error != 0) return Status::Errno(error, "cannot start a thread to enter the network namespace");
    pthread_join(thread, nullptr);
  }
  if (opening.fd < 0) return Status::Errno(opening.error, "cannot open a netlink socket");
  *out = Descriptor(opening.fd);
  return {};
}

}  // namespace knp::netlink
