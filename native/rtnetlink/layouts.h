// Written by `npm run task -- layouts` from src/kernel/rtnetlink/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::rtnetlink {

enum class EventKind : uint8_t {
  kLink = 1,
  kAddress = 2,
  kRoute = 3,
  kRule = 4,
  kNeighbour = 5,
  kForwardingEntry = 6,
};

enum class ReferenceKind : uint8_t {
  kLink = 1,
  kNetworkNamespace = 2,
};

namespace layout {

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
  static constexpr size_t kSize = 8;
  static constexpr records::U32 kMessageOffset{0};
  static constexpr records::U32 kMessageLength{4};
};

struct Reference {
  static constexpr size_t kSize = 12;
  static constexpr records::U8 kKind{0};
  static constexpr records::U32 kOffset{4};
  static constexpr records::U32 kLength{8};
};

}  // namespace layout

}  // namespace knp::rtnetlink
