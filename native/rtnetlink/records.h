// rtnetlink structs ↔ the records that cross to JavaScript; src/kernel/rtnetlink/records.ts is the other side
// of each table. Numbers are little-endian, addresses 16 bytes in network order with IPv4 in the first four.
//
//   link (60)            address (44)             operation (68)
//    0 u32 index          0 u8  family 4, 6        0 u8  verb: 1 add link, 2 delete link,
//    4 u32 flags          1 u8  prefix                   3 add address, 4 delete address
//    8 u32 mtu            2 u8  scope              1 u8  family 4, 6
//   12 16  name           4 u32 flags              2 u8  prefix
//   28 32  kind           8 u32 index of the link  4 16  name of the link
//                        12 16  name of the link  20 16  address
//                        28 16  address           36 32  kind
//
//   event of a watch (64): 0 u8 kind: 1 link, 2 address; 1 u8 whether deleted; 4 the link or the address
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rtnetlink/types.h"

namespace knp::rtnetlink {

constexpr size_t kLinkRecord = 60;
constexpr size_t kAddressRecord = 44;
constexpr size_t kOperationRecord = 68;
constexpr size_t kEventRecord = 64;

// Reads whole records; the caller has checked the length. Values are taken as they are: JavaScript has
// validated them, and the kernel has the last word on every one.
std::vector<Operation> LoadOperations(const uint8_t* records, size_t size);

std::vector<uint8_t> StoreLinks(const std::vector<Link>& links);
std::vector<uint8_t> StoreAddresses(const std::vector<NamedAddress>& addresses);
std::vector<uint8_t> StoreEvents(const std::vector<Event>& events);

}  // namespace knp::rtnetlink
