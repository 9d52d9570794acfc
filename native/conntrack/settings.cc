#include "conntrack/settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

namespace knp::conntrack {
namespace {

// Streams would add 0.4 MB of locales to a binary that contains its C++ library.
std::optional<bool> IsOn(const char* name) {
  const std::string path = std::string("/proc/sys/net/netfilter/") + name;
  const netlink::Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char digit = '0';
  if (!file.open() || ::read(file.get(), &digit, 1) != 1) return std::nullopt;
  return digit != '0';
}

// The kernel has this file wherever it has connection tracking.
bool IsReadable() {
  return ::access("/proc/sys/net/netfilter/nf_conntrack_count", R_OK) == 0;
}

}  // namespace

netlink::Status ReadSettings(const netlink::NetworkNamespace& network_namespace, Settings* out) {
  // The files have the settings of the namespace of the thread that opens them.
  return network_namespace.Run([&] {
    out->accounting = IsOn("nf_conntrack_acct");
    out->timestamps = IsOn("nf_conntrack_timestamp");
    out->events = IsOn("nf_conntrack_events");
    if (!IsReadable()) return;
    // Kernels are built without some of them.
    for (std::optional<bool>* setting : {&out->accounting, &out->timestamps, &out->events}) {
      if (!setting->has_value()) *setting = false;
    }
  });
}

}  // namespace knp::conntrack
