// Written by `npm run layouts` from src/kernel/conntrack/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::conntrack {

enum TupleField : uint8_t {
  kSource = 1,
  kDestination = 2,
  kSourcePort = 4,
  kDestinationPort = 8,
};

namespace layout {

struct Filter {
  static constexpr size_t kSize = 76;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kProtocol{1};
  static constexpr records::U8 kOriginalFields{2};
  static constexpr records::U8 kReplyFields{3};
  static constexpr records::Part kOriginal{4};
  static constexpr records::Part kReply{40};
};

struct Flow {
  static constexpr size_t kSize = 92;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kProtocol{1};
  static constexpr records::U16 kZone{2};
  static constexpr records::U32 kId{4};
  static constexpr records::U32 kStatus{8};
  static constexpr records::U32 kMark{12};
  static constexpr records::U32 kTimeout{16};
  static constexpr records::Part kOriginal{20};
  static constexpr records::Part kReply{56};
};

struct Tuple {
  static constexpr size_t kSize = 36;
  static constexpr records::Address kSource{0};
  static constexpr records::Address kDestination{16};
  static constexpr records::U16 kSourcePort{32};
  static constexpr records::U16 kDestinationPort{34};
};

}  // namespace layout

}  // namespace knp::conntrack
