// ipset structs ↔ the records that cross to JavaScript; src/kernel/ipset/records.ts is the other side of each
// table. Numbers are little-endian, ports in host order, addresses 16 bytes in network order with IPv4 in the
// first four. Families are 4, 6 or 0; types those of SetType; fields those of EntryField.
//
//   operation (84)                       set (92)                         entry (40)
//    0 u8  verb, see Verb                 0 u8  family                     0 u8  fields
//    1 u8  type of the set                1 u8  revision                   1 u8  protocol
//    2 u8  family                         2 u8  1 elements, 2 ports told,  2 u8  prefix
//    3 u8  fields of the entry                  4 extended                 3 u8  second prefix
//    4 u8  protocol                       3 u8  bytes of the rest / 4      4 u16 port
//    5 u8  prefix                         4 u32 hash size                  6 u8  family
//    6 u8  second prefix                  8 u32 most elements              7 u8  bytes of the rest / 4
//    8 u16 port, or first port           12 u16 first port                 8 16  address
//                                        14 u16 last port                 24 16  second address
//   10 u16 last port                     16 u32 references
//   12 u32 hash size                     20 u32 elements
//   16 u32 most elements                 24 u32 number of entries listed
//   20 32  name of the set               28 32  name
//   52 16  address                       60 32  type
//   68 16  second address
//   52 32  instead of both: name of the other set (swap)
//
// A listing is, for each set: set, its rest, and its entries, each followed by its rest (see Rest).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ipset/types.h"

namespace knp::ipset {

constexpr size_t kOperationRecord = 84;
constexpr size_t kSetRecord = 92;
constexpr size_t kEntryRecord = 40;

// Reads whole records; the caller has checked the length. Values are taken as they are: JavaScript has
// validated them, and the kernel has the last word on every one.
std::vector<Operation> LoadOperations(const uint8_t* records, size_t size);

std::vector<uint8_t> StoreListing(const std::vector<SetState>& sets);

}  // namespace knp::ipset
