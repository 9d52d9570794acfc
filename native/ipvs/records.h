// IPVS structs ↔ the records that cross to JavaScript; src/kernel/ipvs/records.ts is the other side of each
// table. Numbers are little-endian, ports in host order, addresses 16 bytes in network order with IPv4 in the
// first four.
//
//   service (72)              server (40)               counters (40)          operation (120)
//    0 u8  family 4, 6         0 u8  family 4, 6         0 u64 connections       0 u8 verb (IPVS_CMD_…)
//    1 u8  protocol            1 u8  forwarding          8 u64 in packets        8 service
//    2 u16 port                2 u16 port               16 u64 out packets      80 server
//    4 u32 firewall mark       4 u32 weight             24 u64 in bytes
//    8 u32 flags               8 u32 upper threshold    32 u64 out bytes
//   12 u32 timeout            12 u32 lower threshold
//   16 u8  netmask (prefix)   16 u8  tunnel type
//   20 u32 number of servers  18 u16 tunnel port
//   24 16  address            20 u16 tunnel flags
//   40 16  scheduler          24 16  address
//   56 16  persistence engine
//
// A listing is, for each service: service, counters, and for each of its servers: server, u32 active, u32
// inactive, u32 persistent connections, u32 0, counters. The netmask is a prefix length, 0 for an IPv4 mask
// that is none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ipvs/types.h"

namespace knp::ipvs {

constexpr size_t kServiceRecord = 72;
constexpr size_t kServerRecord = 40;
constexpr size_t kCountersRecord = 40;
constexpr size_t kOperationRecord = 120;
constexpr size_t kListedServerRecord = kServerRecord + 16 + kCountersRecord;
constexpr size_t kListedServiceRecord = kServiceRecord + kCountersRecord;

// Reads whole records; the caller has checked the length. Values are taken as they are: JavaScript has
// validated them, and the kernel has the last word on every one.
Service LoadService(const uint8_t* record);
// Services to be listed, from whole service records; of each only the id matters.
std::vector<ServiceState> LoadServices(const uint8_t* records, size_t size);
std::vector<Operation> LoadOperations(const uint8_t* records, size_t size);

std::vector<uint8_t> StoreListing(const std::vector<ServiceState>& services);

}  // namespace knp::ipvs
