#include "rtnetlink/watch.h"

#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>
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

// Whether a message about a neighbour is about an entry of a forwarding database.
bool IsOfBridge(const Message& message) {
  ndmsg header{};
  return message.ReadHeader(&header) && header.ndm_family == AF_BRIDGE;
}

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
      *out = {IsOfBridge(message) ? EventKind::kForwardingEntry : EventKind::kNeighbour,
              message.type == RTM_DELNEIGH};
      return true;
    default:
      return false;
  }
}

// The place of a link among the names; the end where there is no link of this index.
LinkNames::const_iterator Find(int32_t index, const NameLookup& look_up, LinkNames* names) {
  const auto known = names->find(index);
  std::string name;
  if (known != names->end() || index <= 0 || !look_up(index, &name)) return known;
  return names->emplace(index, name).first;
}

// The event of a message that JavaScript decodes. The name of an address has that of its link.
void ReadMessage(const Message& message, Subject subject, const NameLookup& look_up, LinkNames* names,
                 Notifications* out) {
  std::vector<int32_t> indexes;
  if (!DecodeLinkIndexes(message, &indexes).ok()) {
    out->lost = true;
    return;
  }
  LinkNames known;
  for (const int32_t index : indexes) {
    const auto name = Find(index, look_up, names);
    if (name != names->end()) known.insert(*name);
  }
  if (subject.kind == EventKind::kAddress && known.empty()) {
    out->lost = true;
    return;
  }
  std::vector<uint8_t> content;
  netlink::AppendMessage(message, &content);
  AppendEvent(subject.kind, subject.deleted, content, known, &out->records);
}

void ReadLink(const Message& message, Subject subject, bool wanted, const NameLookup& look_up,
              LinkNames* names, Notifications* out) {
  ifinfomsg header{};
  Link link;
  if (!message.ReadHeader(&header) || !DecodeLink(message, &link).ok()) {
    out->lost = true;
    return;
  }
  // A bridge notifies of its ports, too: RTM_DELLINK then means that the link is not a port any more.
  if (header.ifi_family != AF_UNSPEC) return;
  if (subject.deleted) {
    names->erase(link.index);
  } else {
    std::string& name = (*names)[link.index];
    const bool renamed = !name.empty() && name != link.name;
    name = link.name;
    if (renamed) {
      out->lost = true;
      return;
    }
  }
  if (wanted) ReadMessage(message, subject, look_up, names, out);
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
  const bool neighbours =
      wanted.count(EventKind::kNeighbour) + wanted.count(EventKind::kForwardingEntry) != 0;
  if (neighbours) groups.push_back(RTNLGRP_NEIGH);
  return groups;
}

// Adds the name of the link that has this index now; with 0, those of all links.
Status ReadNames(int32_t index, Client* client, LinkNames* names) {
  struct {
    ifinfomsg header;
    nlattr attribute;
    uint32_t mask;
  } payload{{}, {sizeof(nlattr) + sizeof(uint32_t), IFLA_EXT_MASK}, RTEXT_FILTER_SKIP_STATS};
  payload.header.ifi_index = index;
  Encoded request;
  request.type = RTM_GETLINK;
  request.flags = index == 0 ? NLM_F_DUMP : NLM_F_ACK;
  request.payload.resize(sizeof(payload));
  std::memcpy(request.payload.data(), &payload, sizeof(payload));
  std::vector<uint8_t> answer;
  Status status = client->Read(request, &answer);
  netlink::MessageReader messages(answer.data(), answer.size());
  Message message;
  while (status.ok() && messages.Next(&message)) {
    Link link;
    status = DecodeLink(message, &link);
    if (status.ok()) names->emplace(link.index, link.name);
  }
  return status;
}

}  // namespace

void ReadNotification(const Message& message, const EventKinds& wanted, const NameLookup& look_up,
                      LinkNames* names, Notifications* out) {
  Subject subject{};
  if (!SubjectOf(message, &subject)) return;
  if (subject.kind == EventKind::kLink) {
    ReadLink(message, subject, wanted.count(EventKind::kLink) != 0, look_up, names, out);
  } else if (wanted.count(subject.kind) != 0) {  // neighbours and entries of bridges have one group
    ReadMessage(message, subject, look_up, names, out);
  }
}

Status Watch::Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout) {
  // Both are used here before the thread starts, and by the thread alone after that. The names are listed
  // after the groups were joined, so that no link is missed.
  auto names = std::make_shared<LinkNames>();
  auto client = std::make_shared<Client>();
  const NameLookup look_up = [client](int32_t index, std::string* name) {
    LinkNames found;
    if (!ReadNames(index, client.get(), &found).ok() || found.empty()) return false;
    *name = found.begin()->second;
    return true;
  };
  const auto read = [names, look_up, wanted = wanted_](const Message& message, Notifications* out) {
    ReadNotification(message, wanted, look_up, names.get(), out);
  };
  // A link may have been renamed by a notification that was lost. Names that cannot be listed are looked up
  // one by one.
  const auto on_lost = [names, client] {
    names->clear();
    static_cast<void>(ReadNames(0, client.get(), names.get()));
  };
  Status status = Join({network_namespace, NETLINK_ROUTE, GroupsOf(wanted_)}, read, on_lost);
  if (status.ok()) status = client->Open(network_namespace, timeout);
  // The kernel notifies of all links that are not there already.
  return status.ok() ? ReadNames(0, client.get(), names.get()) : status;
}

}  // namespace knp::rtnetlink
