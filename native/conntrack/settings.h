// Settings of connection tracking in a network namespace.
#pragma once

#include <optional>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::conntrack {

// Whether each setting below /proc/sys/net/netfilter exists and is not 0; not known where none of them can be
// read, because /proc/sys is masked.
struct Settings {
  std::optional<bool> accounting;  // nf_conntrack_acct
  std::optional<bool> timestamps;  // nf_conntrack_timestamp
  std::optional<bool> events;      // nf_conntrack_events
};

netlink::Status ReadSettings(const netlink::NetworkNamespace& network_namespace, Settings* out);

}  // namespace knp::conntrack
