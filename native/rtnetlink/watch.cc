#include "rtnetlink/watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <memory>
#include <vector>

#include "rtnetlink/client.h"
#include "rtnetlink/codec.h"
#include "rtnetlink/records.h"

namespace knp::rtnetlink {
namespace {

using netlink::Message;
using netlink::Notifications;
using netlink::Status;

void AppendEvent(const Event& event, Notifications* out) {
  const std::vector<uint8_t> record = StoreEvents({event});
  out->records.insert(out->records.end(), record.begin(), record.end());
}

void ReadLink(const Message& message, bool deleted, LinkNames* names, Notifications* out) {
  Event event;
  event.kind = EventKind::kLink;
  event.deleted = deleted;
  ifinfomsg header{};
  if (!message.ReadHeader(&header) || !DecodeLink(message, &event.link).ok()) {
    out->lost = true;
    return;
  }
  // A bridge notifies of its ports, too: RTM_DELLINK then means that the link is no port any more.
  if (header.ifi_family != AF_UNSPEC) return;
  if (deleted) {
    names->erase(event.link.index);
  } else {
    std::string& name = (*names)[event.link.index];
    if (!name.empty() && name != event.link.name) out->lost = true;
    name = event.link.name;
  }
  AppendEvent(event, out);
}

void ReadAddress(const Message& message, bool deleted, const LinkNames& names, Notifications* out) {
  Event event;
  event.kind = EventKind::kAddress;
  event.deleted = deleted;
  const Status status = DecodeAddress(message, &event.address.address);
  const auto name = names.find(event.address.address.link_index);
  if (!status.ok() || name == names.end()) {
    out->lost = true;
    return;
  }
  event.address.link = name->second;
  AppendEvent(event, out);
}

// Names of the links that are there already. The kernel notifies of all others.
Status ListNames(const std::string& network_namespace, std::chrono::milliseconds timeout, LinkNames* names) {
  Client client;
  Status status = client.Open(network_namespace, timeout);
  if (!status.ok()) return status;
  std::vector<Link> links;
  status = client.ListLinks(&links);
  for (const Link& link : links) names->emplace(link.index, link.name);
  return status;
}

}  // namespace

void ReadNotification(const Message& message, LinkNames* names, Notifications* out) {
  switch (message.type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      ReadLink(message, message.type == RTM_DELLINK, names, out);
      break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
      ReadAddress(message, message.type == RTM_DELADDR, *names, out);
      break;
    default:
      break;
  }
}

Status Watch::Open(const std::string& network_namespace, std::chrono::milliseconds timeout) {
  const netlink::WatchOptions options{
      network_namespace, NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR}};
  // Listed after the groups were joined, so that no link is missed, and before the thread uses them.
  auto names = std::make_shared<LinkNames>();
  Status status = Join(options, [names](const Message& message, Notifications* out) {
    ReadNotification(message, names.get(), out);
  });
  return status.ok() ? ListNames(network_namespace, timeout, names.get()) : status;
}

}  // namespace knp::rtnetlink
