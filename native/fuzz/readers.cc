#include "fuzz/readers.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <iterator>
#include <vector>

#include "genl/family.h"
#include "ipset/codec.h"
#include "ipset/records.h"
#include "ipvs/codec.h"
#include "ipvs/records.h"
#include "netlink/transaction.h"
#include "rtnetlink/codec.h"
#include "rtnetlink/records.h"
#include "rtnetlink/watch.h"

namespace knp::fuzz {
namespace {

using netlink::FailureKind;
using netlink::Message;

bool ReadService(const Message& message) {
  std::vector<ipvs::ServiceState> services(1);
  if (!ipvs::DecodeService(message, &services.front()).ok()) return false;
  return !ipvs::StoreListing(services).empty();
}

bool ReadServiceAlone(const Message& message) {
  ipvs::Service service;
  if (!ipvs::DecodeService(message, &service).ok()) return false;
  std::vector<uint8_t> listing;
  ipvs::AppendService(service, &listing);
  return true;
}

bool ReadServerAlone(const Message& message) {
  ipvs::RealServer server;
  if (!ipvs::DecodeServer(message, AF_INET, &server).ok()) return false;
  std::vector<uint8_t> listing;
  ipvs::AppendService({}, &listing);
  ipvs::AppendServer(server, 0, &listing);
  return true;
}

bool ReadServerOf(const Message& message, uint16_t family) {
  std::vector<ipvs::ServiceState> services(1);
  services.front().servers.resize(1);
  if (!ipvs::DecodeServer(message, family, &services.front().servers.front()).ok()) return false;
  return !ipvs::StoreListing(services).empty();
}

bool ReadServer(const Message& message) {
  const bool either = ReadServerOf(message, AF_INET);
  return ReadServerOf(message, AF_INET6) || either;
}

bool ReadServiceId(const Message& message) {
  ipvs::ServiceId id;
  return ipvs::DecodeServiceId(message, &id).ok();
}

bool ReadInfo(const Message& message) {
  ipvs::Info info;
  return ipvs::DecodeInfo(message, &info).ok();
}

bool ReadDaemon(const Message& message) {
  std::vector<ipvs::Daemon> daemons(1);
  if (!ipvs::DecodeDaemon(message, &daemons.front()).ok()) return false;
  return !ipvs::StoreDaemons(daemons).empty();
}

bool ReadTimeouts(const Message& message) {
  ipvs::Timeouts timeouts;
  return ipvs::DecodeTimeouts(message, &timeouts).ok();
}

bool ReadFamily(const Message& message) {
  uint16_t id = 0;
  return genl::DecodeFamily(message, &id).ok();
}

bool ReadLink(const Message& message) {
  rtnetlink::Link link;
  return rtnetlink::DecodeLink(message, &link).ok();
}

// A message with a change counts as good.
bool ReadNotification(const Message& message) {
  const rtnetlink::EventKinds all{rtnetlink::EventKind::kLink,      rtnetlink::EventKind::kAddress,
                                  rtnetlink::EventKind::kRoute,     rtnetlink::EventKind::kRule,
                                  rtnetlink::EventKind::kNeighbour, rtnetlink::EventKind::kForwardingEntry};
  rtnetlink::LinkNames names;
  netlink::Notifications notifications;
  const auto look_up = [](int32_t index, std::string* name) {
    *name = "eth0";
    return index % 2 == 0;
  };
  rtnetlink::ReadNotification(message, all, look_up, &names, &notifications);
  return !notifications.records.empty();
}

bool ReadLinkIndexes(const Message& message) {
  // As a route, whose next hops are structs of their own.
  Message route = message;
  route.type = RTM_NEWROUTE;
  std::vector<int32_t> indexes;
  return rtnetlink::DecodeLinkIndexes(route, &indexes).ok();
}

// Alone, and as the second part of a listing.
bool ReadSet(const Message& message) {
  std::vector<ipset::SetState> sets;
  const bool alone = ipset::DecodeListPart(message, &sets).ok();
  const bool again = ipset::DecodeListPart(message, &sets).ok();
  if (!sets.empty() && ipset::StoreListing(sets).empty()) return false;
  return alone || again;
}

bool ReadSetType(const Message& message) {
  std::vector<ipset::TypeSupport> types(1);
  return ipset::DecodeType(message, &types.front()).ok() && !ipset::StoreTypes(types).empty();
}

bool ReadIpsetProtocol(const Message& message) {
  ipset::ProtocolVersions versions;
  return ipset::DecodeProtocol(message, &versions).ok();
}

// A refusal is read well, too.
bool ReadAcknowledgement(const Message& message) {
  return netlink::ReadAcknowledgement(message).kind != FailureKind::kMalformedReply;
}

// As the reply to one of three messages. A refusal is read well, too, and so is a reply to another request.
bool ReadTransactionReply(const Message& message) {
  netlink::TransactionReplies replies(message.sequence, 5);
  if (!replies.Read(message).ok()) return false;
  netlink::TransactionAnswer answer;
  return !replies.Finish("a loss", &answer).ok() || !netlink::StoreAnswer(answer).empty();
}

}  // namespace

const Reader kReaders[] = {
    {"ipvs virtual service", ReadService},
    {"ipvs real server", ReadServer},
    {"ipvs virtual service without counters", ReadServiceAlone},
    {"ipvs real server without counters", ReadServerAlone},
    {"ipvs name of a service", ReadServiceId},
    {"ipvs info", ReadInfo},
    {"ipvs timeouts", ReadTimeouts},
    {"ipvs sync daemon", ReadDaemon},
    {"generic netlink family", ReadFamily},
    {"rtnetlink link", ReadLink},
    {"rtnetlink notification", ReadNotification},
    {"rtnetlink indexes of links", ReadLinkIndexes},
    {"ipset set and entries", ReadSet},
    {"ipset type", ReadSetType},
    {"ipset protocol", ReadIpsetProtocol},
    {"netlink acknowledgement", ReadAcknowledgement},
    {"netlink reply to a transaction", ReadTransactionReply},
};
const size_t kReaderCount = std::size(kReaders);

}  // namespace knp::fuzz
