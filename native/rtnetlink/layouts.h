// Written by `npm run layouts` from src/kernel/rtnetlink/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::rtnetlink {

enum AddressPart : uint8_t {
  kPeer = 1,
  kBroadcast = 2,
};

enum class EventKind : uint8_t {
  kLink = 1,
  kAddress = 2,
  kRoute = 3,
  kRule = 4,
  kNeighbour = 5,
};

enum class ReferenceKind : uint8_t {
  kLink = 1,
  kNetworkNamespace = 2,
};

enum class Verb : uint8_t {
  kAddAddress = 1,
  kReplaceAddress = 2,
  kDeleteAddress = 3,
  kSend = 4,
};

namespace layout {

struct Address {
  static constexpr size_t kSize = 112;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kPrefix{1};
  static constexpr records::U8 kScope{2};
  static constexpr records::U8 kParts{3};
  static constexpr records::U32 kFlags{4};
  static constexpr records::U32 kLinkIndex{8};
  static constexpr records::U32 kMetric{12};
  static constexpr records::U32 kValid{16};
  static constexpr records::U32 kPreferred{20};
  static constexpr records::Text kLink{24, 16};
  static constexpr records::Text kLabel{40, 16};
  static constexpr records::Address kAddress{56};
  static constexpr records::Address kPeer{72};
  static constexpr records::Address kBroadcast{88};
  static constexpr records::U8 kProtocol{104};
  static constexpr records::U32 kAttributesLength{108};
};

struct Attribute {
  static constexpr size_t kSize = 4;
  static constexpr records::U16 kType{0};
  static constexpr records::U16 kLength{2};
};

struct Event {
  static constexpr size_t kSize = 8;
  static constexpr records::U8 kKind{0};
  static constexpr records::U8 kDeleted{1};
  static constexpr records::U16 kNameCount{2};
  static constexpr records::U32 kLength{4};
};

struct LinkName {
  static constexpr size_t kSize = 20;
  static constexpr records::U32 kIndex{0};
  static constexpr records::Text kName{4, 16};
};

struct Message {
  static constexpr size_t kSize = 12;
  static constexpr records::U16 kType{0};
  static constexpr records::U16 kFlags{2};
  static constexpr records::U32 kPayloadLength{4};
  static constexpr records::U32 kReferenceCount{8};
};

struct Operation {
  static constexpr size_t kSize = 124;
  static constexpr records::U8 kVerb{0};
  static constexpr records::U32 kMessageOffset{4};
  static constexpr records::U32 kMessageLength{8};
  static constexpr records::Part kAddress{12};
};

struct Reference {
  static constexpr size_t kSize = 12;
  static constexpr records::U8 kKind{0};
  static constexpr records::U32 kOffset{4};
  static constexpr records::U32 kLength{8};
};

}  // namespace layout

}  // namespace knp::rtnetlink
