#include "rtnetlink/records.h"

#include <sys/socket.h>

#include <algorithm>

#include "records/little_endian.h"

namespace knp::rtnetlink {
namespace {

using records::Store32;

constexpr size_t kNameField = 16;
constexpr size_t kKindField = 32;

void StoreLink(const Link& link, uint8_t* record) {
  Store32(record, static_cast<uint32_t>(link.index));
  Store32(record + 4, link.flags);
  Store32(record + 8, link.mtu);
  records::StoreText(record + 12, kNameField, link.name);
  records::StoreText(record + 28, kKindField, link.kind);
}

void StoreAddress(const NamedAddress& named, uint8_t* record) {
  const Address& address = named.address;
  record[0] = address.family == AF_INET6 ? 6 : 4;
  record[1] = address.prefix;
  record[2] = address.scope;
  Store32(record + 4, address.flags);
  Store32(record + 8, static_cast<uint32_t>(address.link_index));
  records::StoreText(record + 12, kNameField, named.link);
  std::copy_n(address.bytes.begin(), address.bytes.size(), record + 28);
}

}  // namespace

std::vector<Operation> LoadOperations(const uint8_t* records, size_t size) {
  std::vector<Operation> operations;
  operations.reserve(size / kOperationRecord);
  for (const uint8_t* record = records; size >= kOperationRecord; record += kOperationRecord) {
    Operation operation;
    operation.verb = static_cast<Verb>(record[0]);
    operation.address.family = record[1] == 6 ? AF_INET6 : AF_INET;
    operation.address.prefix = record[2];
    operation.link = records::LoadText(record + 4, kNameField);
    std::copy_n(record + 20, operation.address.bytes.size(), operation.address.bytes.begin());
    operation.kind = records::LoadText(record + 36, kKindField);
    operations.push_back(std::move(operation));
    size -= kOperationRecord;
  }
  return operations;
}

std::vector<uint8_t> StoreLinks(const std::vector<Link>& links) {
  std::vector<uint8_t> listing(links.size() * kLinkRecord);
  uint8_t* record = listing.data();
  for (const Link& link : links) {
    StoreLink(link, record);
    record += kLinkRecord;
  }
  return listing;
}

std::vector<uint8_t> StoreAddresses(const std::vector<NamedAddress>& addresses) {
  std::vector<uint8_t> listing(addresses.size() * kAddressRecord);
  uint8_t* record = listing.data();
  for (const NamedAddress& address : addresses) {
    StoreAddress(address, record);
    record += kAddressRecord;
  }
  return listing;
}

std::vector<uint8_t> StoreEvents(const std::vector<Event>& events) {
  std::vector<uint8_t> listing(events.size() * kEventRecord);
  uint8_t* record = listing.data();
  for (const Event& event : events) {
    record[0] = static_cast<uint8_t>(event.kind);
    record[1] = event.deleted ? 1 : 0;
    if (event.kind == Event::Kind::kLink) {
      StoreLink(event.link, record + 4);
    } else {
      StoreAddress(event.address, record + 4);
    }
    record += kEventRecord;
  }
  return listing;
}

}  // namespace knp::rtnetlink
