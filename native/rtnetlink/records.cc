#include "rtnetlink/records.h"

#include <utility>

#include "netlink/message_builder.h"
#include "records/fields.h"

namespace knp::rtnetlink {
namespace {

using records::At;
using records::Load;
using records::Store;

Address LoadAddress(const uint8_t* record) {
  using Field = layout::Address;
  const uint8_t parts = Load(record, Field::kParts);
  Address address;
  address.family = records::LoadFamily(record, Field::kFamily);
  address.prefix = Load(record, Field::kPrefix);
  address.scope = Load(record, Field::kScope);
  address.flags = Load(record, Field::kFlags);
  address.metric = Load(record, Field::kMetric);
  address.valid = Load(record, Field::kValid);
  address.preferred = Load(record, Field::kPreferred);
  address.label = Load(record, Field::kLabel);
  address.bytes = Load(record, Field::kAddress);
  address.peer = (parts & kPeer) != 0 ? Load(record, Field::kPeer) : address.bytes;
  address.broadcast = Load(record, Field::kBroadcast);
  address.has_broadcast = (parts & kBroadcast) != 0;
  return address;
}

Operation LoadOperation(const uint8_t* record, const std::vector<uint8_t>& messages) {
  using Field = layout::Operation;
  Operation operation;
  operation.verb = static_cast<Verb>(Load(record, Field::kVerb));
  if (operation.verb == Verb::kSend) {
    const size_t offset = Load(record, Field::kMessageOffset);
    const size_t length = Load(record, Field::kMessageLength);
    const bool within = offset <= messages.size() && length <= messages.size() - offset;
    if (!within || !LoadMessage(messages.data() + offset, length, &operation.message)) operation.verb = Verb{};
    return operation;
  }
  const uint8_t* address = Load(record, Field::kAddress);
  operation.link = Load(address, layout::Address::kLink);
  operation.address = LoadAddress(address);
  return operation;
}

void StoreLink(const Link& link, uint8_t* record) {
  using Field = layout::Link;
  Store(record, Field::kIndex, static_cast<uint32_t>(link.index));
  Store(record, Field::kFlags, link.flags);
  Store(record, Field::kMtu, link.mtu);
  Store(record, Field::kName, link.name);
  Store(record, Field::kKind, link.kind);
}

void StoreAddress(const NamedAddress& named, uint8_t* record) {
  using Field = layout::Address;
  const Address& address = named.address;
  records::StoreFamily(record, Field::kFamily, address.family);
  Store(record, Field::kPrefix, address.prefix);
  Store(record, Field::kScope, address.scope);
  Store(record, Field::kFlags, address.flags);
  Store(record, Field::kLinkIndex, static_cast<uint32_t>(address.link_index));
  Store(record, Field::kMetric, address.metric);
  Store(record, Field::kValid, address.valid);
  Store(record, Field::kPreferred, address.preferred);
  Store(record, Field::kLink, named.link);
  Store(record, Field::kLabel, address.label);
  Store(record, Field::kAddress, address.bytes);
  Store(record, Field::kPeer, address.peer);
  Store(record, Field::kBroadcast, address.broadcast);
  const int peer = address.peer == address.bytes ? 0 : kPeer;
  Store(record, Field::kParts, peer | (address.has_broadcast ? kBroadcast : 0));
}

void StoreEvent(const Event& event, uint8_t* record) {
  using Field = layout::Event;
  Store(record, Field::kKind, static_cast<uint8_t>(event.kind));
  Store(record, Field::kDeleted, event.deleted ? 1 : 0);
  if (event.kind == EventKind::kLink) {
    StoreLink(event.link, At(record, Field::kChanged));
  } else {
    StoreAddress(event.address, At(record, Field::kChanged));
  }
}

}  // namespace

std::vector<Operation> LoadOperations(const uint8_t* records, size_t size,
                                      const std::vector<uint8_t>& messages) {
  return records::LoadEach<layout::Operation>(
      records, size, [&](const uint8_t* record) { return LoadOperation(record, messages); });
}

bool LoadMessage(const uint8_t* bytes, size_t size, Encoded* out) {
  using Field = layout::Message;
  if (size < Field::kSize) return false;
  out->type = Load(bytes, Field::kType);
  out->flags = Load(bytes, Field::kFlags);
  const size_t payload = Load(bytes, Field::kPayloadLength);
  const size_t count = Load(bytes, Field::kReferenceCount);
  const uint8_t* next = bytes + Field::kSize;
  size_t left = size - Field::kSize;
  // The next message of a batch follows directly.
  if (payload > left || payload % NLMSG_ALIGNTO != 0) return false;
  out->payload.assign(next, next + payload);
  next += payload;
  left -= payload;
  for (size_t i = 0; i < count; i++) {
    using Place = layout::Reference;
    if (left < Place::kSize) return false;
    Reference reference;
    reference.kind = static_cast<ReferenceKind>(Load(next, Place::kKind));
    reference.offset = Load(next, Place::kOffset);
    const size_t length = Load(next, Place::kLength);
    next += Place::kSize;
    left -= Place::kSize;
    if (length > left || netlink::NlmsgAlign(length) > left) return false;
    if (reference.offset > payload || payload - reference.offset < sizeof(uint32_t)) return false;
    reference.name.assign(reinterpret_cast<const char*>(next), length);
    out->references.push_back(std::move(reference));
    next += netlink::NlmsgAlign(length);
    left -= netlink::NlmsgAlign(length);
  }
  return true;
}

std::vector<uint8_t> StoreLinks(const std::vector<Link>& links) {
  return records::StoreEach<layout::Link>(links, StoreLink);
}

std::vector<uint8_t> StoreAddresses(const std::vector<NamedAddress>& addresses) {
  return records::StoreEach<layout::Address>(addresses, StoreAddress);
}

std::vector<uint8_t> StoreEvents(const std::vector<Event>& events) {
  return records::StoreEach<layout::Event>(events, StoreEvent);
}

}  // namespace knp::rtnetlink
