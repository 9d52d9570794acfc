#include "ipvs/connections.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace knp::ipvs {

using netlink::Status;

Status ConnectionReader::Open(const netlink::NetworkNamespace& network_namespace) {
  // The file is that of the namespace in which it was opened, whichever thread reads it.
  constexpr const char* kPath = "/proc/thread-self/net/ip_vs_conn";
  int fd = -1;
  int error = 0;
  Status status = network_namespace.Run([&] {
    fd = open(kPath, O_RDONLY | O_CLOEXEC);
    error = errno;
  });
  if (!status.ok()) return status;
  if (fd < 0) return Status::Errno(error, std::string("cannot open ") + kPath);
  file_ = netlink::Descriptor(fd);
  return {};
}

Status ConnectionReader::Read(std::vector<uint8_t>* out) {
  out->resize(kConnectionsPiece);
  size_t filled = 0;
  // The kernel returns one page at a time.
  while (filled < out->size()) {
    const ssize_t count = read(file_.get(), out->data() + filled, out->size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::Errno(errno, "cannot read the connections");
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  out->resize(filled);
  return {};
}

}  // namespace knp::ipvs
