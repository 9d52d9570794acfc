// Messages of conntrack, for the tests of its codec. Captures: captures/conntrack-replies.txt.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "check.h"
#include "conntrack/codec.h"
#include "messages.h"

namespace knp::test {

constexpr std::array<uint8_t, 16> kClient{10, 0, 0, 9};
constexpr std::array<uint8_t, 16> kEndpoint{10, 0, 0, 1};
constexpr std::array<uint8_t, 16> kService{10, 96, 0, 10};

// The flows of a capture.
inline std::vector<conntrack::Flow> Flows(const std::string& name) {
  std::vector<conntrack::Flow> flows;
  const std::vector<uint8_t> bytes = Capture(name);
  for (const netlink::Message& message : MessagesOf(bytes))
    CHECK(DecodeFlow(message, &flows.emplace_back()).ok());
  return flows;
}

// The flow of the first message.
inline conntrack::Flow FlowOf(const std::vector<uint8_t>& bytes) {
  conntrack::Flow flow;
  CHECK(DecodeFlow(MessagesOf(bytes)[0], &flow).ok());
  return flow;
}

}  // namespace knp::test
