// rtnetlink structs ↔ the records that cross to JavaScript, of which rtnetlink/layouts.h has the layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rtnetlink/layouts.h"
#include "rtnetlink/types.h"

namespace knp::rtnetlink {

// Reads whole records; the caller has checked the length. `messages` has the messages that they refer to.
// Values are not checked: JavaScript has validated them, and the kernel refuses any other. An operation whose
// message is not whole has a verb that does not exist.
std::vector<Operation> LoadOperations(const uint8_t* records, size_t size,
                                      const std::vector<uint8_t>& messages);

// Reads a message with its references. False when it is not whole.
[[nodiscard]] bool LoadMessage(const uint8_t* bytes, size_t size, Encoded* out);

std::vector<uint8_t> StoreLinks(const std::vector<Link>& links);
std::vector<uint8_t> StoreAddresses(const std::vector<NamedAddress>& addresses);
std::vector<uint8_t> StoreEvents(const std::vector<Event>& events);

}  // namespace knp::rtnetlink
