#include "rtnetlink/client.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <utility>

#include "netlink/exchange.h"
#include "rtnetlink/codec.h"

namespace knp::rtnetlink {
namespace {

using netlink::Batch;
using netlink::Fault;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::Status;

// The largest part of a dump that the kernel makes.
constexpr size_t kDatagram = size_t{32} * 1024;

}  // namespace

Status Client::Open(const std::string& network_namespace, std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  netlink::SocketOptions options;
  options.protocol = NETLINK_ROUTE;
  options.strict_checking = true;
  options.timeout = timeout;
  return netlink::OpenSockets(network_namespace, &options, {{&socket_, kDatagram}});
}

Status Client::ListLinks(std::vector<Link>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return DumpLinks(out);
}

Status Client::GetLink(const std::string& name, Link* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return FindLink(name, out);
}

Status Client::ListAddresses(const std::string& link, std::vector<NamedAddress>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<Link> links;
  Status status;
  if (link.empty()) {
    status = DumpLinks(&links);
  } else {
    status = FindLink(link, &links.emplace_back());
  }
  if (!status.ok()) return status;
  std::map<int32_t, std::string> names;
  for (Link& each : links) names[each.index] = std::move(each.name);

  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!EncodeListAddresses(&builder, link.empty() ? 0 : links.front().index)) return Status::Errno(EMSGSIZE);
  return netlink::Dump(
      &socket_, &request, [&] { out->clear(); },
      [&](const Message& reply) -> Status {
        // An "all families" dump has others too (AF_PHONET, AF_MCTP). rtgenmsg, ifaddrmsg and the like begin
        // with the family.
        uint8_t family = 0;
        if (!reply.ReadHeader(&family) || (family != AF_INET && family != AF_INET6)) return {};
        Address address;
        Status decoded = DecodeAddress(reply, &address);
        if (!decoded.ok()) return decoded;
        // Not in the list: another link than the wanted one, from a kernel that cannot filter, or a link that
        // is newer than the list.
        const auto name = names.find(address.link_index);
        if (name != names.end()) out->push_back(NamedAddress{address, name->second});
        return {};
      });
}

std::vector<netlink::Failure> Client::Apply(const std::vector<Operation>& operations) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Batch batch(&socket_);
  Names names;
  for (size_t i = 0; i < operations.size(); i++) {
    const auto index = static_cast<uint32_t>(i);
    switch (operations[i].verb) {
      case Verb::kAddLink:
      case Verb::kDeleteLink:
        ApplyToLink(index, operations[i], &batch, &names);
        break;
      case Verb::kAddAddress:
      case Verb::kDeleteAddress:
        ApplyToAddress(index, operations[i], &batch, &names);
        break;
      default:
        batch.Fail(index, Status::Errno(EINVAL, "no such operation"));
    }
  }
  return batch.Finish();
}

void Client::ApplyToLink(uint32_t index, const Operation& operation, Batch* batch, Names* names) {
  Link link;
  link.name = operation.link;
  link.kind = operation.kind;
  names->erase(operation.link);
  batch->Add(index, [&](MessageBuilder* builder) {
    const bool add = operation.verb == Verb::kAddLink;
    return add ? EncodeAddLink(builder, 0, link) : EncodeDeleteLink(builder, 0, link);
  });
}

// The kernel takes addresses by the index of their link. A name is looked up once and again after every
// operation on that link, at its place in the list: earlier operations are sent first.
void Client::ApplyToAddress(uint32_t index, const Operation& operation, Batch* batch, Names* names) {
  auto found = names->find(operation.link);
  if (found == names->end()) {
    batch->Flush();
    Link link;
    Status status = FindLink(operation.link, &link);
    found = names->emplace(operation.link, Resolved{link.index, std::move(status)}).first;
  }
  if (!found->second.status.ok()) return batch->Fail(index, found->second.status);
  Address address = operation.address;
  address.link_index = found->second.index;
  batch->Add(index, [&](MessageBuilder* builder) {
    const bool add = operation.verb == Verb::kAddAddress;
    return add ? EncodeAddAddress(builder, 0, address) : EncodeDeleteAddress(builder, 0, address);
  });
}

Status Client::DumpLinks(std::vector<Link>* out) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!EncodeListLinks(&builder)) return Status::Errno(EMSGSIZE);
  return netlink::Dump(
      &socket_, &request, [&] { out->clear(); },
      [&](const Message& reply) -> Status {
        Link link;
        Status status = DecodeLink(reply, &link);
        if (status.ok()) out->push_back(std::move(link));
        return status;
      });
}

Status Client::FindLink(const std::string& name, Link* out) {
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!EncodeGetLink(&builder, name)) return Status::Errno(EMSGSIZE);
  bool found = false;
  Status status = netlink::Query(&socket_, &request, [&](const Message& reply) {
    found = true;
    return DecodeLink(reply, out);
  });
  if (status.ok() && !found) return Status::Of(Fault::kMalformedReply, "no link in the reply");
  return status;
}

}  // namespace knp::rtnetlink
