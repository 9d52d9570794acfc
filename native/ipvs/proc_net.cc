#include "ipvs/proc_net.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace knp::ipvs {

using netlink::Status;

Status OpenProcNet(const netlink::NetworkNamespace& network_namespace, const char* name,
                   netlink::Descriptor* out) {
  const std::string path = std::string("/proc/thread-self/net/") + name;
  int fd = -1;
  int error = 0;
  Status status = network_namespace.Run([&] {
    fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    error = errno;
  });
  if (!status.ok()) return status;
  if (fd < 0) return Status::Errno(error, "cannot open " + path);
  *out = netlink::Descriptor(fd);
  return {};
}

Status ReadPiece(const netlink::Descriptor& file, size_t size, std::vector<uint8_t>* out) {
  out->resize(size);
  size_t filled = 0;
  // The kernel returns one page at a time.
  while (filled < size) {
    const ssize_t count = read(file.get(), out->data() + filled, size - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::Errno(errno, "cannot read a file of /proc/net");
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  out->resize(filled);
  return {};
}

bool LacksLocalTable(const netlink::NetworkNamespace& network_namespace) {
  // A table takes less than 1 KiB, and a larger file is one of a namespace with many tables.
  constexpr size_t kMostBytes = size_t{256} * 1024;
  netlink::Descriptor file;
  std::vector<uint8_t> bytes;
  if (!OpenProcNet(network_namespace, "fib_triestat", &file).ok()) return false;
  if (!ReadPiece(file, kMostBytes, &bytes).ok() || bytes.empty() || bytes.size() == kMostBytes) return false;
  const std::string tables(bytes.begin(), bytes.end());
  return tables.find("\nLocal:") == std::string::npos;
}

}  // namespace knp::ipvs
