#include "ipset/records.h"

#include <algorithm>

#include "records/fields.h"

namespace knp::ipset {
namespace {

using records::Load;
using records::Store;

Operation LoadOperation(const uint8_t* record) {
  using Field = layout::Operation;
  Operation operation;
  operation.verb = static_cast<Verb>(Load(record, Field::kVerb));
  operation.strict = Load(record, Field::kStrict) != 0;
  operation.set.type = static_cast<SetType>(Load(record, Field::kType));
  operation.set.family = records::LoadFamily(record, Field::kFamily);
  operation.set.name = Load(record, Field::kName);
  Entry& entry = operation.entry;
  entry.fields = Load(record, Field::kFields);
  entry.protocol = Load(record, Field::kProtocol);
  entry.prefix = Load(record, Field::kPrefix);
  entry.prefix2 = Load(record, Field::kPrefix2);
  entry.port = Load(record, Field::kPort);
  entry.address = Load(record, Field::kAddress);
  entry.address2 = Load(record, Field::kAddress2);
  return operation;
}

void StoreSet(const SetState& state, uint8_t* record) {
  using Field = layout::Set;
  const SetHeader& header = state.header;
  records::StoreFamily(record, Field::kFamily, header.family);
  Store(record, Field::kRevision, header.revision);
  const int flags = (header.has_elements ? kHasElements : 0) | (header.has_ports ? kHasPorts : 0) |
                    (header.extended ? kIsExtended : 0);
  Store(record, Field::kFlags, static_cast<uint8_t>(flags));
  Store(record, Field::kAttributes, header.rest.size() / 4);
  Store(record, Field::kHashSize, header.parameters.hash_size);
  Store(record, Field::kMaxElements, header.parameters.max_elements);
  Store(record, Field::kFirstPort, header.parameters.port_from);
  Store(record, Field::kLastPort, header.parameters.port_to);
  Store(record, Field::kReferences, header.references);
  Store(record, Field::kElements, header.elements);
  Store(record, Field::kEntries, state.entries.size());
  Store(record, Field::kName, header.name);
  Store(record, Field::kType, header.type);
}

void StoreEntry(const Entry& entry, uint8_t* record) {
  using Field = layout::Entry;
  Store(record, Field::kFields, entry.fields);
  Store(record, Field::kProtocol, entry.protocol);
  Store(record, Field::kPrefix, entry.prefix);
  Store(record, Field::kPrefix2, entry.prefix2);
  Store(record, Field::kPort, entry.port);
  records::StoreFamily(record, Field::kFamily, entry.family);
  Store(record, Field::kAttributes, entry.rest.size() / 4);
  Store(record, Field::kAddress, entry.address);
  Store(record, Field::kAddress2, entry.address2);
}

}  // namespace

bool LoadOperations(const uint8_t* records, size_t size, std::vector<Operation>* out) {
  using Field = layout::Operation;
  out->reserve(size / Field::kSize);
  while (size > 0) {
    if (size < Field::kSize) return false;
    const size_t rest = size_t{Load(records, Field::kAttributes)} * 4;
    if (size - Field::kSize < rest) return false;
    out->push_back(LoadOperation(records));
    const uint8_t* attributes = records + Field::kSize;
    out->back().entry.rest.assign(attributes, attributes + rest);
    records = attributes + rest;
    size -= Field::kSize + rest;
  }
  return true;
}

std::vector<uint8_t> StoreTypes(const std::vector<TypeSupport>& types) {
  using Field = layout::Type;
  return records::StoreEach<Field>(types, [](const TypeSupport& type, uint8_t* record) {
    Store(record, Field::kLeastRevision, type.least_revision);
    Store(record, Field::kGreatestRevision, type.greatest_revision);
    Store(record, Field::kName, type.name);
  });
}

std::vector<uint8_t> StoreListing(const std::vector<SetState>& sets) {
  size_t size = sets.size() * layout::Set::kSize;
  for (const SetState& set : sets) {
    size += set.header.rest.size() + set.entries.size() * layout::Entry::kSize;
    for (const Entry& entry : set.entries) size += entry.rest.size();
  }
  std::vector<uint8_t> listing(size);
  uint8_t* record = listing.data();
  for (const SetState& set : sets) {
    StoreSet(set, record);
    record = std::copy(set.header.rest.begin(), set.header.rest.end(), record + layout::Set::kSize);
    for (const Entry& entry : set.entries) {
      StoreEntry(entry, record);
      record = std::copy(entry.rest.begin(), entry.rest.end(), record + layout::Entry::kSize);
    }
  }
  return listing;
}

}  // namespace knp::ipset
