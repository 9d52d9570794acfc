#include "ipset/records.h"

#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "records/little_endian.h"

namespace knp::ipset {
namespace {

using records::Load16;
using records::Load32;
using records::Store16;
using records::Store32;

constexpr size_t kNameField = 32;
constexpr uint8_t kHasElements = 1;
constexpr uint8_t kHasPorts = 2;
constexpr uint8_t kExtended = 4;

uint8_t LoadFamily(uint8_t number) {
  if (number == 4) return AF_INET;
  return number == 6 ? AF_INET6 : AF_UNSPEC;
}

uint8_t StoreFamily(uint8_t family) {
  if (family == AF_INET) return 4;
  return family == AF_INET6 ? 6 : 0;
}

Operation LoadOperation(const uint8_t* record) {
  Operation operation;
  operation.verb = static_cast<Verb>(record[0]);
  operation.set.type = static_cast<SetType>(record[1]);
  operation.set.family = LoadFamily(record[2]);
  operation.set.name = records::LoadText(record + 20, kNameField);
  operation.parameters.port_from = Load16(record + 8);
  operation.parameters.port_to = Load16(record + 10);
  operation.parameters.hash_size = Load32(record + 12);
  operation.parameters.max_elements = Load32(record + 16);
  if (operation.verb == Verb::kSwap) {
    operation.other = records::LoadText(record + 52, kNameField);
    return operation;
  }
  Entry& entry = operation.entry;
  entry.fields = record[3];
  entry.protocol = record[4];
  entry.prefix = record[5];
  entry.prefix2 = record[6];
  entry.port = Load16(record + 8);
  std::copy_n(record + 52, entry.address.size(), entry.address.begin());
  std::copy_n(record + 68, entry.address2.size(), entry.address2.begin());
  return operation;
}

void StoreSet(uint8_t* record, const SetState& state) {
  const SetHeader& header = state.header;
  record[0] = StoreFamily(header.family);
  record[1] = header.revision;
  record[2] = static_cast<uint8_t>((header.has_elements ? kHasElements : 0) |
                                   (header.has_ports ? kHasPorts : 0) | (header.extended ? kExtended : 0));
  record[3] = static_cast<uint8_t>(header.rest.size() / 4);
  Store32(record + 4, header.parameters.hash_size);
  Store32(record + 8, header.parameters.max_elements);
  Store16(record + 12, header.parameters.port_from);
  Store16(record + 14, header.parameters.port_to);
  Store32(record + 16, header.references);
  Store32(record + 20, header.elements);
  Store32(record + 24, static_cast<uint32_t>(state.entries.size()));
  records::StoreText(record + 28, kNameField, header.name);
  records::StoreText(record + 60, kNameField, header.type);
}

void StoreEntry(uint8_t* record, const Entry& entry) {
  record[0] = entry.fields;
  record[1] = entry.protocol;
  record[2] = entry.prefix;
  record[3] = entry.prefix2;
  Store16(record + 4, entry.port);
  record[6] = StoreFamily(entry.family);
  record[7] = static_cast<uint8_t>(entry.rest.size() / 4);
  std::copy_n(entry.address.begin(), entry.address.size(), record + 8);
  std::copy_n(entry.address2.begin(), entry.address2.size(), record + 24);
}

}  // namespace

std::vector<Operation> LoadOperations(const uint8_t* records, size_t size) {
  std::vector<Operation> operations;
  operations.reserve(size / kOperationRecord);
  for (const uint8_t* record = records; size >= kOperationRecord; record += kOperationRecord) {
    operations.push_back(LoadOperation(record));
    size -= kOperationRecord;
  }
  return operations;
}

std::vector<uint8_t> StoreListing(const std::vector<SetState>& sets) {
  size_t size = sets.size() * kSetRecord;
  for (const SetState& set : sets) {
    size += set.header.rest.size() + set.entries.size() * kEntryRecord;
    for (const Entry& entry : set.entries) size += entry.rest.size();
  }
  std::vector<uint8_t> listing(size);
  uint8_t* record = listing.data();
  for (const SetState& set : sets) {
    StoreSet(record, set);
    record = std::copy(set.header.rest.begin(), set.header.rest.end(), record + kSetRecord);
    for (const Entry& entry : set.entries) {
      StoreEntry(record, entry);
      record = std::copy(entry.rest.begin(), entry.rest.end(), record + kEntryRecord);
    }
  }
  return listing;
}

}  // namespace knp::ipset
