#include "rtnetlink/records.h"

#include <algorithm>
#include <utility>

#include "netlink/message_builder.h"
#include "records/fields.h"

namespace knp::rtnetlink {
namespace {

using records::Load;
using records::Store;

}  // namespace

std::vector<Encoded> LoadOperations(const uint8_t* records, size_t size,
                                    const std::vector<uint8_t>& messages) {
  using Field = layout::Operation;
  return records::LoadEach<Field>(records, size, [&](const uint8_t* record) {
    const size_t offset = Load(record, Field::kMessageOffset);
    const size_t length = Load(record, Field::kMessageLength);
    const bool within = offset <= messages.size() && length <= messages.size() - offset;
    Encoded message;
    if (!within || !LoadMessage(messages.data() + offset, length, &message)) message = {};
    return message;
  });
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
