// Written by `npm run layouts` from src/kernel/rtnetlink/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::rtnetlink {

enum class EventKind : uint8_t {
  kLink = 1,
  kAddress = 2,
};

enum class Verb : uint8_t {
  kAddLink = 1,
  kDeleteLink = 2,
  kAddAddress = 3,
  kDeleteAddress = 4,
};

namespace layout {

struct Address {
  static constexpr size_t kSize = 44;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kPrefix{1};
  static constexpr records::U8 kScope{2};
  static constexpr records::U32 kFlags{4};
  static constexpr records::U32 kLinkIndex{8};
  static constexpr records::Text kLink{12, 16};
  static constexpr records::Address kAddress{28};
};

struct Event {
  static constexpr size_t kSize = 64;
  static constexpr records::U8 kKind{0};
  static constexpr records::U8 kDeleted{1};
  static constexpr records::Part kChanged{4};
};

struct Link {
  static constexpr size_t kSize = 60;
  static constexpr records::U32 kIndex{0};
  static constexpr records::U32 kFlags{4};
  static constexpr records::U32 kMtu{8};
  static constexpr records::Text kName{12, 16};
  static constexpr records::Text kKind{28, 32};
};

struct Operation {
  static constexpr size_t kSize = 68;
  static constexpr records::U8 kVerb{0};
  static constexpr records::U8 kFamily{1};
  static constexpr records::U8 kPrefix{2};
  static constexpr records::Text kLink{4, 16};
  static constexpr records::Address kAddress{20};
  static constexpr records::Text kKind{36, 32};
};

}  // namespace layout

}  // namespace knp::rtnetlink
