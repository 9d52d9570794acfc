#include "rtnetlink/records.h"

#include "records/fields.h"

namespace knp::rtnetlink {
namespace {

using records::At;
using records::Load;
using records::Store;

Operation LoadOperation(const uint8_t* record) {
  using Field = layout::Operation;
  Operation operation;
  operation.verb = static_cast<Verb>(Load(record, Field::kVerb));
  operation.address.family = records::LoadFamily(record, Field::kFamily);
  operation.address.prefix = Load(record, Field::kPrefix);
  operation.link = Load(record, Field::kLink);
  operation.address.bytes = Load(record, Field::kAddress);
  operation.kind = Load(record, Field::kKind);
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
  Store(record, Field::kLink, named.link);
  Store(record, Field::kAddress, address.bytes);
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

std::vector<Operation> LoadOperations(const uint8_t* records, size_t size) {
  return records::LoadEach<layout::Operation>(records, size, LoadOperation);
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
