// Conntrack structs ↔ the records that cross to JavaScript; src/kernel/conntrack/records.ts is the other side
// of each table. Numbers are little-endian, ports in host order, addresses 16 bytes in network order with
// IPv4 in the first four.
//
//   tuple (36)                 flow (92)              filter (76)
//    0 16  source               0 u8  family 4, 6      0 u8  family 4, 6, 0 for both
//   16 16  destination          1 u8  protocol         1 u8  protocol, 0 for any
//   32 u16 source port          2 u16 zone             2 u8  fields of original: sum of 1 source,
//   34 u16 destination port     4 u32 id                     2 destination, 4, 8 their ports
//                               8 u32 status           3 u8  fields of reply
//                              12 u32 mark             4     original
//                              16 u32 seconds left    40     reply
//                              20     original
//                              56     reply
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conntrack/types.h"

namespace knp::conntrack {

constexpr size_t kTupleRecord = 36;
constexpr size_t kFlowRecord = 92;
constexpr size_t kFilterRecord = 76;

// Reads whole records; the caller has checked the length. Values are taken as they are: JavaScript has
// validated them, and the kernel has the last word on every one. Of flows, what names them is read.
std::vector<Flow> LoadFlows(const uint8_t* records, size_t size);
std::vector<Filter> LoadFilters(const uint8_t* records, size_t size);

std::vector<uint8_t> StoreFlows(const std::vector<Flow>& flows);

}  // namespace knp::conntrack
