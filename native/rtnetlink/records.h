// rtnetlink structs ↔ the records that cross to JavaScript, of which rtnetlink/layouts.h has the layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rtnetlink/layouts.h"
#include "rtnetlink/types.h"

namespace knp::rtnetlink {

// Reads whole records; the caller has checked the length. `messages` has the messages that they refer to.
// Values are not checked: JavaScript has validated them, and the kernel refuses any other. A message that is
// not whole has no type.
std::vector<Encoded> LoadOperations(const uint8_t* records, size_t size,
                                    const std::vector<uint8_t>& messages);

// Reads a message with its references. False when it is not whole.
[[nodiscard]] bool LoadMessage(const uint8_t* bytes, size_t size, Encoded* out);

// Name of each link by its index.
using LinkNames = std::map<int32_t, std::string>;

// Appends an event record with `content`, a message with its header, and the names of the links that it
// refers to.
void AppendEvent(EventKind kind, bool deleted, const std::vector<uint8_t>& content, const LinkNames& names,
                 std::vector<uint8_t>* records);

}  // namespace knp::rtnetlink
