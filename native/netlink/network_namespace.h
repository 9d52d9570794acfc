// The network namespace in which sockets are opened: that of the process, or one that is named by its path.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "netlink/status.h"

namespace knp::netlink {

// Owns a descriptor.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      Close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }
  void Close();

 private:
  int fd_ = -1;
};

class NetworkNamespace {
 public:
  // An empty path means the namespace that the process is in at the time. A named one is held
  // open: it stays reachable when its name is removed. ENOENT: no such file; EINVAL is from Run() and
  // OpenSocket() when the file is no network namespace.
  static Status Open(const std::string& path, NetworkNamespace* out);

  // Runs `body` inside the namespace and waits for it. A named one is entered by a short-lived thread of our
  // own: setns changes the calling thread only, and libuv's threads stay where they are. Entering needs
  // CAP_SYS_ADMIN; when that fails `body` does not run.
  Status Run(const std::function<void()>& body) const;

  // socket(2) with SOCK_CLOEXEC inside the namespace, to which the socket then belongs for good.
  Status OpenSocket(int domain, int type, int protocol, Descriptor* out) const;

 private:
  Descriptor file_;
};

}  // namespace knp::netlink
