// Notifications of a network namespace, as event records with the names of links.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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

// Looks the name of a link up by its index; false where there is none.
using NameLookup = std::function<bool(int32_t index, std::string* name)>;

// Appends the event record of a notification. The notification of a link may have been lost: a name that is
// not among `names` is looked up, and added. A loss where it is malformed, has the address of a link that is
// not there, or reports that a link has another name: its addresses have it too, and are not reported again.
// Links that are not among the wanted kinds are read all the same, for their names.
void ReadNotification(const netlink::Message& message, const EventKinds& wanted, const NameLookup& look_up,
                      LinkNames* names, netlink::Notifications* out);

class Watch : public netlink::Watch {
 public:
  // Selects the kinds of objects whose changes are reported, before Open(); all by default.
  void Select(EventKinds wanted) { wanted_ = std::move(wanted); }
  // Joins the groups, and lists the links, for which the timeout is.
  netlink::Status Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

 private:
  EventKinds wanted_{EventKind::kLink, EventKind::kAddress,   EventKind::kRoute,
                     EventKind::kRule, EventKind::kNeighbour, EventKind::kForwardingEntry};
};

}  // namespace knp::rtnetlink
