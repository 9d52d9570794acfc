#include "conntrack/settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace knp::conntrack {
namespace {

// Streams would add 0.4 MB of locales to a binary that contains its C++ library.
bool IsOn(const char* name) {
  const std::string path = std::string("/proc/sys/net/netfilter/") + name;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char digit = '0';
  const ssize_t length = ::read(file, &digit, 1);
  ::close(file);
  return length == 1 && digit != '0';
}

}  // namespace

netlink::Status ReadSettings(const netlink::NetworkNamespace& network_namespace, Settings* out) {
  // The files have the settings of the namespace of the thread that opens them.
  return network_namespace.Run([&] {
    out->accounting = IsOn("nf_conntrack_acct");
    out->timestamps = IsOn("nf_conntrack_timestamp");
    out->events = IsOn("nf_conntrack_events");
  });
}

}  // namespace knp::conntrack
