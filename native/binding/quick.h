// The operations for which JavaScript's thread waits (quick_call.h): those that cost the kernel some
// microseconds, as a rule. Never one that may load a kernel module, wait for RCU, or whose cost grows with
// the state in the kernel beyond a list's walk: JavaScript's thread would wait in vain.
// docs/decisions/0038-a-thread-for-quick-calls.md has the reason for each verb.
#pragma once

#include <linux/rtnetlink.h>

#include <cstddef>

#include "ipset/types.h"
#include "ipvs/types.h"
#include "rtnetlink/types.h"

namespace knp::binding {

// Not services: a scheduler may be loaded or replaced (synchronize_rcu), and the first service registers
// hooks.
inline bool IsQuick(const ipvs::Operation& operation) {
  switch (operation.verb) {
    case ipvs::Verb::kAddRealServer:
    case ipvs::Verb::kUpdateRealServer:
    case ipvs::Verb::kDeleteRealServer:
    case ipvs::Verb::kSetTimeouts:
      return true;
    default:
      return false;
  }
}

// Addresses alone: links may load modules, and their deletion waits for RCU.
inline bool IsQuick(const rtnetlink::Encoded& message) {
  return message.type == RTM_NEWADDR || message.type == RTM_DELADDR;
}

// Not sets: their creation may load a module, their destruction and exchange wait for RCU.
inline bool IsQuick(const ipset::Operation& operation) {
  return operation.verb == ipset::Verb::kAdd || operation.verb == ipset::Verb::kDelete;
}

// The most operations of a quick call, and the most bytes of their records and messages.
constexpr size_t kMostQuick = 16;
constexpr size_t kMostQuickBytes = 8192;

template <typename Operations>
bool AreQuick(const Operations& operations) {
  if (operations.size() > kMostQuick) return false;
  for (size_t i = 0; i < operations.size(); i++) {
    if (!IsQuick(operations[i])) return false;
  }
  return true;
}

}  // namespace knp::binding
