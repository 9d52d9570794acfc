#include "netlink/setting.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace knp::netlink {

Status ReadSetting(const NetworkNamespace& network_namespace, const std::string& path,
                   std::vector<uint8_t>* out) {
  constexpr size_t kLongest = 64;
  int error = 0;
  // A file has the setting of the namespace of the thread that opens it.
  Status status = network_namespace.Run([&] {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    out->resize(kLongest);
    const ssize_t count = file.open() ? read(file.get(), out->data(), out->size()) : -1;
    if (count < 0) error = errno;
    out->resize(count < 0 ? 0 : static_cast<size_t>(count));
  });
  return status.ok() && error != 0 ? Status::Errno(error, "cannot read " + path) : status;
}

}  // namespace knp::netlink
