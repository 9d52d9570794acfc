#include "rtnetlink/records.h"

#include <algorithm>
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
  address.protocol = Load(record, Field::kProtocol);
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
    if (!within || !LoadMessage(messages.data() + offset, length, &operation.message))
      operation.verb = Verb{};
    return operation;
  }
  const uint8_t* address = Load(record, Field::kAddress);
  operation.link = Load(address, layout::Address::kLink);
  operation.address = LoadAddress(address);
  return operation;
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
  Store(record, Field::kProtocol, address.protocol);
  Store(record, Field::kAttributesLength, address.others.size());
  std::copy(address.others.begin(), address.others.end(), record + Field::kSize);
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

std::vector<uint8_t> StoreAddresses(const std::vector<NamedAddress>& addresses) {
  using Field = layout::Address;
  size_t size = 0;
  for (const NamedAddress& named : addresses) size += Field::kSize + named.address.others.size();
  std::vector<uint8_t> records(size);
  uint8_t* record = records.data();
  for (const NamedAddress& named : addresses) {
    StoreAddress(named, record);
    record += Field::kSize + named.address.others.size();
  }
  return records;
}

void AppendEvent(EventKind kind, bool deleted, const std::vector<uint8_t>& content, const LinkNames& names,
                 std::vector<uint8_t>* records) {
  using Field = layout::Event;
  using Name = layout::LinkName;
  const size_t start = records->size();
  const size_t length = netlink::NlmsgAlign(content.size());
  records->resize(start + Field::kSize + length + names.size() * Name::kSize);
  uint8_t* record = records->data() + start;
  Store(record, Field::kKind, static_cast<uint8_t>(kind));
  Store(record, Field::kDeleted, deleted ? 1 : 0);
  Store(record, Field::kNameCount, names.size());
  Store(record, Field::kLength, length);
  std::copy(content.begin(), content.end(), record + Field::kSize);
  uint8_t* next = record + Field::kSize + length;
  for (const auto& [index, name] : names) {
    Store(next, Name::kIndex, static_cast<uint32_t>(index));
    Store(next, Name::kName, name);
    next += Name::kSize;
  }
}

}  // namespace knp::rtnetlink
