// Notifications of flows that begin, change and end in a network namespace, as event records.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "conntrack/filter.h"
#include "netlink/message_reader.h"
#include "netlink/status.h"
#include "netlink/watch.h"

namespace knp::conntrack {

// Appends the event record of a notification about a selected flow. A loss where it is malformed.
void ReadNotification(const netlink::Message& message, const Selector& selector, netlink::Notifications* out);

class Watch : public netlink::Watch {
 public:
  // Selects the kinds of events, a sum of EventKind, and the flows: those that any of the filters selects.
  // Before Open().
  void Select(uint8_t kinds, const std::vector<Filter>& filters);

  // Joins the groups. EOPNOTSUPP when the setting nf_conntrack_events is 0 there: the kernel then reports
  // nothing. One that cannot be read is not known to be 0.
  netlink::Status Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

 private:
  uint8_t kinds_ = 0;
  std::vector<Filter> filters_;
};

}  // namespace knp::conntrack
