// Names of links, and the messages of JavaScript.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rtnetlink/layouts.h"

namespace knp::rtnetlink {

struct Link {
  int32_t index = 0;
  std::string name;
};

// A number in a payload that is looked up when the message is sent: the index of a link, or a descriptor of a
// network namespace.
struct Reference {
  ReferenceKind kind = ReferenceKind::kLink;
  uint32_t offset = 0;  // of 4 bytes in the payload
  std::string name;     // of the link; path of the namespace
};

// A message that JavaScript has encoded: fixed header and attributes.
struct Encoded {
  uint16_t type = 0;   // RTM_…; 0 where it was not whole
  uint16_t flags = 0;  // NLM_F_… beside NLM_F_REQUEST
  std::vector<uint8_t> payload;
  std::vector<Reference> references;
};

}  // namespace knp::rtnetlink
