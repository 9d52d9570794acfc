#include "rtnetlink/watch.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <initializer_list>
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

// The object that a message is about, and whether it was deleted.
struct Subject {
  EventKind kind;
  bool deleted;
};

bool SubjectOf(const Message& message, Subject* out) {
  switch (message.type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
      *out = {EventKind::kLink, message.type == RTM_DELLINK};
      return true;
    case RTM_NEWADDR:
    case RTM_DELADDR:
      *out = {EventKind::kAddress, message.type == RTM_DELADDR};
      return true;
    case RTM_NEWROUTE:
    case RTM_DELROUTE:
      *out = {EventKind::kRoute, message.type == RTM_DELROUTE};
      return true;
    case RTM_NEWRULE:
    case RTM_DELRULE:
      *out = {EventKind::kRule, message.type == RTM_DELRULE};
      return true;
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH:
      *out = {EventKind::kNeighbour, message.type == RTM_DELNEIGH};
      return true;
    default:
      return false;
  }
}

// The event of a message that JavaScript decodes.
void ReadMessage(const Message& message, Subject subject, const LinkNames& names, Notifications* out) {
  std::vector<int32_t> indexes;
  if (!DecodeLinkIndexes(message, &indexes).ok()) {
    out->lost = true;
    return;
  }
  LinkNames known;
  for (const int32_t index : indexes) {
    const auto name = names.find(index);
    if (name != names.end()) known.insert(*name);
  }
  std::vector<uint8_t> content;
  AppendMessage(message, &content);
  AppendEvent(subject.kind, subject.deleted, content, known, &out->records);
}

void ReadLink(const Message& message, Subject subject, bool wanted, LinkNames* names, Notifications* out) {
  ifinfomsg header{};
  Link link;
  if (!message.ReadHeader(&header) || !DecodeLink(message, &link).ok()) {
    out->lost = true;
    return;
  }
  // A bridge notifies of its ports, too: RTM_DELLINK then means that the link is no port any more.
  if (header.ifi_family != AF_UNSPEC) return;
  if (subject.deleted) {
    names->erase(link.index);
  } else {
    std::string& name = (*names)[link.index];
    if (!name.empty() && name != link.name) out->lost = true;
    name = link.name;
  }
  if (wanted) ReadMessage(message, subject, *names, out);
}

void ReadAddress(const Message& message, Subject subject, const LinkNames& names, Notifications* out) {
  NamedAddress named;
  const Status status = DecodeAddress(message, &named.address);
  const auto name = names.find(named.address.link_index);
  if (!status.ok() || name == names.end()) {
    out->lost = true;
    return;
  }
  named.link = name->second;
  AppendEvent(subject.kind, subject.deleted, StoreAddresses({named}), {}, &out->records);
}

// The groups of the wanted kinds. Links are always among them, for their names.
std::vector<uint32_t> GroupsOf(const EventKinds& wanted) {
  std::vector<uint32_t> groups{RTNLGRP_LINK};
  const auto join = [&](EventKind kind, std::initializer_list<uint32_t> of_kind) {
    if (wanted.count(kind) != 0) groups.insert(groups.end(), of_kind);
  };
  join(EventKind::kAddress, {RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR});
  join(EventKind::kRoute, {RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE});
  join(EventKind::kRule, {RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE});
  join(EventKind::kNeighbour, {RTNLGRP_NEIGH});
  return groups;
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

void ReadNotification(const Message& message, const EventKinds& wanted, LinkNames* names,
                      Notifications* out) {
  Subject subject{};
  if (!SubjectOf(message, &subject)) return;
  if (subject.kind == EventKind::kLink) {
    ReadLink(message, subject, wanted.count(EventKind::kLink) != 0, names, out);
  } else if (subject.kind == EventKind::kAddress) {
    ReadAddress(message, subject, *names, out);
  } else {
    ReadMessage(message, subject, *names, out);
  }
}

Status Watch::Open(const std::string& network_namespace, std::chrono::milliseconds timeout) {
  const netlink::WatchOptions options{network_namespace, NETLINK_ROUTE, GroupsOf(wanted_)};
  // Listed after the groups were joined, so that no link is missed, and before the thread uses them.
  auto names = std::make_shared<LinkNames>();
  Status status = Join(options, [names, wanted = wanted_](const Message& message, Notifications* out) {
    ReadNotification(message, wanted, names.get(), out);
  });
  return status.ok() ? ListNames(network_namespace, timeout, names.get()) : status;
}

}  // namespace knp::rtnetlink
