// Notifications of a network namespace, as event records with the names of links.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "netlink/message_reader.h"
#include "netlink/status.h"
#include "netlink/watch.h"
#include "rtnetlink/records.h"

namespace knp::rtnetlink {

// Kinds of objects, by their numbers.
using EventKinds = std::set<EventKind>;

// Appends the event record of a notification. A loss where it is malformed, names a link that is not known,
// or reports that a link has another name: its addresses have it too, and are not reported again.
// Links that are not among the wanted kinds are read all the same, for their names.
void ReadNotification(const netlink::Message& message, const EventKinds& wanted, LinkNames* names,
                      netlink::Notifications* out);

class Watch : public netlink::Watch {
 public:
  // Selects the kinds of objects whose changes are reported, before Open(); all by default.
  void Select(EventKinds wanted) { wanted_ = std::move(wanted); }
  // Joins the groups in the network namespace at this path (empty: that of the process), and lists its links,
  // for which the timeout is.
  netlink::Status Open(const std::string& network_namespace, std::chrono::milliseconds timeout);

 private:
  EventKinds wanted_{EventKind::kLink, EventKind::kAddress, EventKind::kRoute, EventKind::kRule,
                     EventKind::kNeighbour};
};

}  // namespace knp::rtnetlink
