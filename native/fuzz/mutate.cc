#include "fuzz/mutate.h"

#include <linux/netlink.h>

#include <algorithm>
#include <cstring>

#include "netlink/message_builder.h"

namespace knp::fuzz {
namespace {

// Where attributes may begin: the fixed headers of the families have 4, 8 or 16 bytes.
constexpr size_t kHeaderSizes[] = {4, 8, 16};
constexpr int kDeepest = 4;

uint16_t LoadLength(const Bytes& bytes, size_t at) {
  nlattr attribute{};
  std::memcpy(&attribute, bytes.data() + at, sizeof(attribute));
  return attribute.nla_len;
}

// Whether whole attributes, and nothing else, lie between `start` and `end`.
bool HoldsAttributes(const Bytes& bytes, size_t start, size_t end) {
  if (start >= end) return false;
  while (start < end) {
    if (end - start < sizeof(nlattr)) return false;
    const size_t length = LoadLength(bytes, start);
    if (length < sizeof(nlattr) || length > end - start) return false;
    start += std::min(end - start, netlink::NlaAlign(length));
  }
  return true;
}

void FindAttributes(const Bytes& bytes, size_t start, size_t end, int depth, std::vector<Element>* out) {
  if (depth > kDeepest || !HoldsAttributes(bytes, start, end)) return;
  while (start < end) {
    const size_t length = LoadLength(bytes, start);
    out->push_back(Element{start, length, false});
    FindAttributes(bytes, start + sizeof(nlattr), start + length, depth + 1, out);
    start += std::min(end - start, netlink::NlaAlign(length));
  }
}

void StoreLength(const Element& element, uint32_t length, Bytes* bytes) {
  // nlmsg_len is the first field of nlmsghdr, nla_len of nlattr; both in host order.
  const auto short_length = static_cast<uint16_t>(length);
  if (element.message) {
    std::memcpy(bytes->data() + element.start, &length, sizeof(length));
  } else {
    std::memcpy(bytes->data() + element.start, &short_length, sizeof(short_length));
  }
}

void FlipBit(Bytes* bytes, Dice* dice) {
  (*bytes)[dice->Throw(bytes->size())] ^= static_cast<uint8_t>(1U << dice->Throw(8));
}

void Overwrite(Bytes* bytes, Dice* dice) {
  constexpr uint8_t kValues[] = {0x00, 0x01, 0x04, 0x7f, 0x80, 0xff};
  const size_t first = dice->Throw(bytes->size());
  const size_t count = std::min(bytes->size() - first, size_t{1} + dice->Throw(8));
  std::fill_n(bytes->begin() + static_cast<ptrdiff_t>(first), count,
              kValues[dice->Throw(std::size(kValues))]);
}

void FalsifyLength(Bytes* bytes, Dice* dice) {
  const std::vector<Element> elements = FindElements(*bytes);
  if (elements.empty()) return FlipBit(bytes, dice);
  const Element& element = elements[dice->Throw(elements.size())];
  const auto length = static_cast<uint32_t>(element.size);
  const auto rest = static_cast<uint32_t>(bytes->size() - element.start);
  const uint32_t lengths[] = {0,          1,          3,        4,        5,    length - 1, length + 1,
                              length + 4, length + 8, rest - 1, rest + 1, rest, 0xffff,     0xffffffff};
  StoreLength(element, lengths[dice->Throw(std::size(lengths))], bytes);
}

// Corrects, in most cases, the lengths of the frames around the place `at`, where `delta` bytes are added or
// removed.
void Resize(const std::vector<Element>& elements, size_t at, ptrdiff_t delta, Bytes* bytes, Dice* dice) {
  if (dice->Throw(4) == 0) return;
  for (const Element& element : elements) {
    if (element.start >= at || at >= element.start + element.size) continue;
    StoreLength(element, static_cast<uint32_t>(static_cast<ptrdiff_t>(element.size) + delta), bytes);
  }
}

// Puts a message or attribute of `donor` over one of these, or before it.
void Splice(const Bytes& donor, Bytes* bytes, Dice* dice) {
  const std::vector<Element> given = FindElements(donor);
  const std::vector<Element> places = FindElements(*bytes);
  if (given.empty() || places.empty()) return FlipBit(bytes, dice);
  const Element& from = given[dice->Throw(given.size())];
  const Element& to = places[dice->Throw(places.size())];
  Bytes piece(donor.begin() + static_cast<ptrdiff_t>(from.start),
              donor.begin() + static_cast<ptrdiff_t>(from.start + from.size));
  if (dice->Throw(2) == 0) {
    const size_t count = std::min(piece.size(), bytes->size() - to.start);
    std::copy_n(piece.begin(), count, bytes->begin() + static_cast<ptrdiff_t>(to.start));
    return;
  }
  piece.resize(netlink::NlaAlign(piece.size()));
  Resize(places, to.start, static_cast<ptrdiff_t>(piece.size()), bytes, dice);
  bytes->insert(bytes->begin() + static_cast<ptrdiff_t>(to.start), piece.begin(), piece.end());
}

void Remove(Bytes* bytes, Dice* dice) {
  const std::vector<Element> elements = FindElements(*bytes);
  if (elements.empty()) return FlipBit(bytes, dice);
  const Element& element = elements[dice->Throw(elements.size())];
  const size_t size = std::min(netlink::NlaAlign(element.size), bytes->size() - element.start);
  Resize(elements, element.start, -static_cast<ptrdiff_t>(size), bytes, dice);
  const auto first = bytes->begin() + static_cast<ptrdiff_t>(element.start);
  bytes->erase(first, first + static_cast<ptrdiff_t>(size));
}

// Sets nlmsg_len to the length of the datagram: else most changes would fail at the frame, before any codec.
void MendFrame(Bytes* bytes) {
  if (bytes->size() < sizeof(nlmsghdr)) return;
  StoreLength(Element{0, 0, true}, static_cast<uint32_t>(bytes->size()), bytes);
}

void Change(const Bytes& donor, Bytes* bytes, Dice* dice) {
  if (bytes->empty()) return;
  switch (dice->Throw(7)) {
    case 0:
      return FlipBit(bytes, dice);
    case 1:
      return Overwrite(bytes, dice);
    case 2:
      return bytes->resize(dice->Throw(bytes->size()));
    case 3:
      return FalsifyLength(bytes, dice);
    case 4:
      return Splice(donor, bytes, dice);
    case 5:
      return Splice(Bytes(*bytes), bytes, dice);  // doubles a part
    default:
      return Remove(bytes, dice);
  }
}

}  // namespace

std::vector<Element> FindElements(const Bytes& datagram) {
  std::vector<Element> elements;
  for (size_t at = 0; at + sizeof(nlmsghdr) <= datagram.size();) {
    nlmsghdr header{};
    std::memcpy(&header, datagram.data() + at, sizeof(header));
    if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > datagram.size() - at) break;
    const size_t end = at + header.nlmsg_len;
    elements.push_back(Element{at, header.nlmsg_len, true});
    for (const size_t size : kHeaderSizes) {
      const size_t start = at + sizeof(header) + size;
      if (start < end && HoldsAttributes(datagram, start, end)) {
        FindAttributes(datagram, start, end, 0, &elements);
        break;
      }
    }
    at += netlink::NlmsgAlign(header.nlmsg_len);
  }
  return elements;
}

Bytes Mutate(const Bytes& original, const Bytes& donor, Dice* dice) {
  const bool one_message = FindElements(original).front().size == original.size();
  Bytes bytes;
  do {
    bytes = original;
    const size_t changes = 1 + dice->Throw(4);
    for (size_t i = 0; i < changes; i++) Change(donor, &bytes, dice);
    if (one_message && dice->Throw(4) != 0) MendFrame(&bytes);
  } while (bytes == original);
  return bytes;
}

}  // namespace knp::fuzz
