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
using netlink::FailureKind;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::Status;

// Network namespaces that a batch has open before it sends. A message may add a few.
constexpr size_t kMostNamespaces = 8;

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
  return netlink::OpenSockets({network_namespace, NETLINK_ROUTE, timeout, true},
                              {{&socket_, netlink::kLargestPart}});
}

Status Client::Read(Encoded message, std::vector<uint8_t>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Namespaces namespaces;
  for (const Reference& reference : message.references) {
    int32_t number = 0;
    Status status;
    if (reference.kind == ReferenceKind::kNetworkNamespace) {
      status = OpenNamespace(reference.name, &namespaces, &number);
    } else {
      Link link;
      status = FindLink(reference.name, &link);
      if (!status.ok()) status = WithName(std::move(status), reference.name);
      number = link.index;
    }
    if (!status.ok()) return status;
    Replace(&message.payload, reference.offset, number);
  }
  return netlink::Dump(
      &socket_, [&](MessageBuilder* builder) { return EncodeMessage(builder, message); },
      [&] { out->clear(); },
      [&](const Message& reply) -> Status {
        netlink::AppendMessage(reply, out);
        return {};
      });
}

std::vector<netlink::Failure> Client::Apply(std::vector<Encoded> messages) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Batch batch(&socket_);
  Names names;
  Namespaces namespaces;
  for (size_t i = 0; i < messages.size(); i++) {
    ApplyMessage(static_cast<uint32_t>(i), &messages[i], &batch, &names, &namespaces);
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

Status Client::OpenNamespace(const std::string& path, Namespaces* namespaces, int32_t* out) {
  const auto known = namespaces->find(path);
  if (known != namespaces->end()) {
    *out = known->second.get();
    return {};
  }
  netlink::Descriptor opened(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened.open()) return Status::OpenNamespace(errno, path);
  *out = opened.get();
  namespaces->emplace(path, std::move(opened));
  return {};
}

Status Client::ResolveReferences(Encoded* message, Batch* batch, Names* names, Namespaces* namespaces) {
  for (const Reference& reference : message->references) {
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
    Replace(&message->payload, reference.offset, number);
  }
  return {};
}

void Client::ApplyMessage(uint32_t index, Encoded* message, Batch* batch, Names* names,
                          Namespaces* namespaces) {
  if (message->type == 0) return batch->Fail(index, Status::Errno(EINVAL, "no such operation"));
  // A batch may refer to more namespaces than a process may have descriptors: those of messages that were
  // sent are closed. Never those of this message: a link and its peer may be in two.
  const auto close_sent = [&] {
    batch->Flush();
    namespaces->clear();
  };
  if (namespaces->size() >= kMostNamespaces) close_sent();
  const bool has_open = !namespaces->empty();
  Status status = ResolveReferences(message, batch, names, namespaces);
  if (has_open && (status.is_errno(EMFILE) || status.is_errno(ENFILE))) {
    close_sent();
    status = ResolveReferences(message, batch, names, namespaces);
  }
  if (!status.ok()) return batch->Fail(index, std::move(status));
  // A link may have another name after it, and others may be deleted with it.
  if (message->type == RTM_NEWLINK || message->type == RTM_DELLINK || message->type == RTM_SETLINK)
    names->clear();
  batch->Add(index, [&](MessageBuilder* builder) { return EncodeMessage(builder, *message); });
}

Status Client::FindLink(const std::string& name, Link* out) {
  const auto encode = [&](MessageBuilder* builder) { return EncodeGetLink(builder, name); };
  bool found = false;
  Status status = netlink::Query(&socket_, encode, [&](const Message& reply) {
    found = true;
    return DecodeLink(reply, out);
  });
  if (status.ok() && !found) return Status::Of(FailureKind::kMalformedReply, "no link in the reply");
  return status;
}

}  // namespace knp::rtnetlink
