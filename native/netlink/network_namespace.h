// The network namespace in which sockets are opened: that of the process, or one that was named by its path.
// It is held by a descriptor, so that all parts of a client stay in it, whatever has its name later.
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

class NetworkNamespace;
using SharedNamespace = std::shared_ptr<const NetworkNamespace>;

class NetworkNamespace {
 public:
  // An empty path means the namespace that the calling thread is in. Where /proc is masked, that one is not
  // held, and every thread is taken to be in it. ENOENT: no such file; EINVAL is from Run() and OpenSocket()
  // when the file is not a network namespace.
  static Status Open(const std::string& path, SharedNamespace* out);

  // Runs `body` inside the namespace and waits for it. A thread that is in another one starts a short-lived
  // thread that enters it: setns changes the calling thread only, and libuv's threads stay where they are.
  // Entering needs CAP_SYS_ADMIN; when that fails `body` does not run.
  Status Run(const std::function<void()>& body) const;

  // socket(2) with SOCK_CLOEXEC inside the namespace, to which the socket then belongs for good.
  Status OpenSocket(int domain, int type, int protocol, Descriptor* out) const;

 private:
  bool IsHere() const;

  Descriptor file_;
};

}  // namespace knp::netlink
