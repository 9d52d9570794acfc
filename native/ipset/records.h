// ipset structs ↔ the records that cross to JavaScript, of which ipset/layouts.h has the layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ipset/layouts.h"
#include "ipset/types.h"

namespace knp::ipset {

// Reads whole records, each with its attributes behind it. False when one is cut short. Values are not
// checked: JavaScript has validated them, and the kernel refuses any other.
bool LoadOperations(const uint8_t* records, size_t size, std::vector<Operation>* out);

// For each set: its record, its other attributes, and its entries; behind each entry its other attributes.
std::vector<uint8_t> StoreListing(const std::vector<SetState>& sets);

std::vector<uint8_t> StoreTypes(const std::vector<TypeSupport>& types);

}  // namespace knp::ipset
