// Written by `npm run task -- layouts` from src/kernel/netlink/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::netlink {

namespace layout {

struct TransactionAnswer {
  static constexpr size_t kSize = 4;
  static constexpr records::U8 kErrorsLost{0};
};

struct TransactionFailure {
  static constexpr size_t kSize = 16;
  static constexpr records::U32 kIndex{0};
  static constexpr records::U32 kErrno{4};
  static constexpr records::U32 kOffset{8};
  static constexpr records::U32 kTextLength{12};
};

}  // namespace layout

}  // namespace knp::netlink
