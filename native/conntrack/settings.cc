#include "conntrack/settings.h"

#include <fstream>
#include <string>

namespace knp::conntrack {
namespace {

bool IsOn(const char* name) {
  std::ifstream file(std::string("/proc/sys/net/netfilter/") + name);
  int value = 0;
  return file >> value && value != 0;
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
