#include "rtnetlink/client.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
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

// Network namespaces that a batch has open before it sends. A message may add a few.
constexpr size_t kMostNamespaces = 8;

// As `ip addr` add and replace.
uint16_t AdditionFlags(Verb verb) {
  return NLM_F_CREATE | (verb == Verb::kAddAddress ? NLM_F_EXCL : NLM_F_REPLACE);
}

// `offset` is within the payload: LoadMessage() has checked it.
void Replace(std::vector<uint8_t>* payload, uint32_t offset, int32_t number) {
  std::memcpy(payload->data() + offset, &number, sizeof(number));
}

// A message may refer to several links.
Status WithName(Status status, const std::string& link) {
  if (status.is_errno(ENODEV)) status.message = "there is no link " + link;
  return status;
}

}  // namespace

Status Client::Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  netlink::SocketOptions options;
  options.network_namespace = network_namespace;
  options.protocol = NETLINK_ROUTE;
  options.strict_checking = true;
  options.timeout = timeout;
  return netlink::OpenSockets(options, {{&socket_, kDatagram}});
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

Status Client::Read(Encoded message, std::vector<uint8_t>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const Reference& reference : message.references) {
    Link link;
    Status status = FindLink(reference.name, &link);
    if (!status.ok()) return WithName(std::move(status), reference.name);
    Replace(&message.payload, reference.offset, link.index);
  }
  std::vector<uint8_t> request;
  MessageBuilder builder(&request);
  if (!EncodeMessage(&builder, 0, message)) return Status::Errno(EMSGSIZE);
  return netlink::Dump(
      &socket_, &request, [&] { out->clear(); },
      [&](const Message& reply) -> Status {
        netlink::AppendMessage(reply, out);
        return {};
      });
}

std::vector<netlink::Failure> Client::Apply(const std::vector<Operation>& operations) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Batch batch(&socket_);
  Names names;
  Namespaces namespaces;
  for (size_t i = 0; i < operations.size(); i++) {
    const auto index = static_cast<uint32_t>(i);
    switch (operations[i].verb) {
      case Verb::kAddAddress:
      case Verb::kReplaceAddress:
      case Verb::kDeleteAddress:
        ApplyToAddress(index, operations[i], &batch, &names);
        break;
      case Verb::kSend:
        ApplyMessage(index, operations[i].message, &batch, &names, &namespaces);
        break;
      default:
        batch.Fail(index, Status::Errno(EINVAL, "no such operation"));
    }
  }
  return batch.Finish();
}

Client::Resolved Client::ResolveNow(const std::string& link) {
  if (link == found_name_ && socket_.HasLink(found_index_, link)) return Resolved{found_index_, {}};
  Link read;
  Status status = FindLink(link, &read);
  if (status.ok()) {
    found_name_ = link;
    found_index_ = read.index;
  }
  return Resolved{read.index, std::move(status)};
}

// The kernel takes links by their index. A name is looked up once, and again after every operation on a link,
// at its place in the list: earlier operations are sent first.
const Client::Resolved& Client::Resolve(const std::string& link, Batch* batch, Names* names) {
  auto found = names->find(link);
  if (found == names->end()) {
    batch->Flush();
    found = names->emplace(link, ResolveNow(link)).first;
  }
  return found->second;
}

void Client::ApplyToAddress(uint32_t index, const Operation& operation, Batch* batch, Names* names) {
  const Resolved& link = Resolve(operation.link, batch, names);
  if (!link.status.ok()) return batch->Fail(index, link.status);
  Address address = operation.address;
  address.link_index = link.index;
  batch->Add(index, [&](MessageBuilder* builder) {
    if (operation.verb == Verb::kDeleteAddress) return EncodeDeleteAddress(builder, 0, address);
    return EncodeNewAddress(builder, AdditionFlags(operation.verb), address);
  });
}

Status Client::OpenNamespace(const std::string& path, Namespaces* namespaces, int32_t* out) {
  const auto known = namespaces->find(path);
  if (known != namespaces->end()) {
    *out = known->second.get();
    return {};
  }
  netlink::Descriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.open()) return Status::Errno(errno, "cannot open network namespace " + path);
  *out = opened.get();
  namespaces->emplace(path, std::move(opened));
  return {};
}

Status Client::ResolveReferences(const Encoded& message, Batch* batch, Names* names, Namespaces* namespaces,
                                 Encoded* out) {
  for (const Reference& reference : message.references) {
    int32_t number = 0;
    Status status;
    if (reference.kind == ReferenceKind::kNetworkNamespace) {
      status = OpenNamespace(reference.name, namespaces, &number);
    } else {
      const Resolved& link = Resolve(reference.name, batch, names);
      status = link.status.ok() ? Status{} : WithName(link.status, reference.name);
      number = link.index;
    }
    if (!status.ok()) return status;
    Replace(&out->payload, reference.offset, number);
  }
  return {};
}

void Client::ApplyMessage(uint32_t index, const Encoded& message, Batch* batch, Names* names,
                          Namespaces* namespaces) {
  Encoded resolved = message;
  // A batch may refer to more namespaces than a process may have descriptors: those of messages that were
  // sent are closed. Never those of this message: a link and its peer may be in two.
  const auto close_sent = [&] {
    batch->Flush();
    namespaces->clear();
  };
  if (namespaces->size() >= kMostNamespaces) close_sent();
  const bool has_open = !namespaces->empty();
  Status status = ResolveReferences(message, batch, names, namespaces, &resolved);
  if (has_open && (status.is_errno(EMFILE) || status.is_errno(ENFILE))) {
    close_sent();
    status = ResolveReferences(message, batch, names, namespaces, &resolved);
  }
  if (!status.ok()) return batch->Fail(index, std::move(status));
  // A link may have another name after it, and others may be deleted with it.
  if (message.type == RTM_NEWLINK || message.type == RTM_DELLINK || message.type == RTM_SETLINK)
    names->clear();
  batch->Add(index, [&](MessageBuilder* builder) { return EncodeMessage(builder, 0, resolved); });
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
