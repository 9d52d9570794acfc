// Settings of connection tracking in a network namespace.
#pragma once

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::conntrack {

// Whether each setting below /proc/sys/net/netfilter exists and is not 0.
struct Settings {
  bool accounting = false;  // nf_conntrack_acct
  bool timestamps = false;  // nf_conntrack_timestamp
  bool events = false;      // nf_conntrack_events
};

netlink::Status ReadSettings(const netlink::NetworkNamespace& network_namespace, Settings* out);

}  // namespace knp::conntrack
