// Notifications of links and addresses of a network namespace, as event records with the names of links.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "netlink/message_reader.h"
#include "netlink/status.h"
#include "netlink/watch.h"

namespace knp::rtnetlink {

// Name of each link by its index, from the notifications.
using LinkNames = std::map<int32_t, std::string>;

// Appends the event record of a notification. A loss where it is malformed, names a link that is not known,
// or reports that a link has another name: its addresses have it too, and are not reported again.
void ReadNotification(const netlink::Message& message, LinkNames* names, netlink::Notifications* out);

class Watch : public netlink::Watch {
 public:
  // Joins the groups in the network namespace at this path (empty: that of the process), and lists its links,
  // for which the timeout is.
  netlink::Status Open(const std::string& network_namespace, std::chrono::milliseconds timeout);
};

}  // namespace knp::rtnetlink
