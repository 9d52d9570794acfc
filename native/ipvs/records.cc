#include "ipvs/records.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>

#include "records/little_endian.h"

namespace knp::ipvs {
namespace {

using records::Load16;
using records::Load32;
using records::Store16;
using records::Store32;
using records::Store64;

constexpr size_t kNameField = 16;

uint16_t LoadFamily(uint8_t family) {
  return family == 6 ? AF_INET6 : AF_INET;
}
uint8_t StoreFamily(uint16_t family) {
  return family == AF_INET6 ? 6 : 4;
}

uint32_t LoadNetmask(uint16_t family, uint8_t prefix) {
  if (family == AF_INET6) return prefix;
  return prefix == 0 ? 0 : htonl(~uint32_t{0} << (32 - std::min<uint8_t>(prefix, 32)));
}

// 0 for what is no prefix length: IPv4 masks with holes.
uint8_t StoreNetmask(uint16_t family, uint32_t netmask) {
  if (family == AF_INET6) return static_cast<uint8_t>(std::min<uint32_t>(netmask, 128));
  uint8_t prefix = 0;
  for (uint32_t bits = ntohl(netmask); (bits & 0x80000000U) != 0; bits <<= 1) prefix++;
  return LoadNetmask(family, prefix) == netmask ? prefix : 0;
}

RealServer LoadServer(const uint8_t* record) {
  RealServer server;
  server.family = LoadFamily(record[0]);
  server.forwarding = record[1];
  server.port = Load16(record + 2);
  server.weight = Load32(record + 4);
  server.upper_threshold = Load32(record + 8);
  server.lower_threshold = Load32(record + 12);
  server.tunnel = Tunnel{record[16], Load16(record + 18), Load16(record + 20)};
  std::copy_n(record + 24, server.address.size(), server.address.begin());
  return server;
}

void StoreServer(const RealServer& server, uint8_t* record) {
  record[0] = StoreFamily(server.family);
  record[1] = static_cast<uint8_t>(server.forwarding);
  Store16(record + 2, server.port);
  Store32(record + 4, server.weight);
  Store32(record + 8, server.upper_threshold);
  Store32(record + 12, server.lower_threshold);
  record[16] = server.tunnel.type;
  Store16(record + 18, server.tunnel.port);
  Store16(record + 20, server.tunnel.flags);
  std::copy_n(server.address.begin(), server.address.size(), record + 24);
}

void StoreService(const ServiceState& state, uint8_t* record) {
  const Service& service = state.service;
  record[0] = StoreFamily(service.id.family);
  record[1] = static_cast<uint8_t>(service.id.protocol);
  Store16(record + 2, service.id.port);
  Store32(record + 4, service.id.firewall_mark);
  Store32(record + 8, service.flags);
  Store32(record + 12, service.timeout);
  record[16] = StoreNetmask(service.id.family, service.netmask);
  Store32(record + 20, static_cast<uint32_t>(state.servers.size()));
  std::copy_n(service.id.address.begin(), service.id.address.size(), record + 24);
  records::StoreText(record + 40, kNameField, service.scheduler);
  records::StoreText(record + 56, kNameField, service.persistence_engine);
}

void StoreCounters(const Counters& counters, uint8_t* record) {
  Store64(record, counters.connections);
  Store64(record + 8, counters.in_packets);
  Store64(record + 16, counters.out_packets);
  Store64(record + 24, counters.in_bytes);
  Store64(record + 32, counters.out_bytes);
}

}  // namespace

Service LoadService(const uint8_t* record) {
  Service service;
  service.id.family = LoadFamily(record[0]);
  service.id.protocol = record[1];
  service.id.port = Load16(record + 2);
  service.id.firewall_mark = Load32(record + 4);
  service.flags = Load32(record + 8);
  service.timeout = Load32(record + 12);
  service.netmask = LoadNetmask(service.id.family, record[16]);
  std::copy_n(record + 24, service.id.address.size(), service.id.address.begin());
  service.scheduler = records::LoadText(record + 40, kNameField);
  service.persistence_engine = records::LoadText(record + 56, kNameField);
  return service;
}

std::vector<ServiceState> LoadServices(const uint8_t* records, size_t size) {
  std::vector<ServiceState> services(size / kServiceRecord);
  for (ServiceState& state : services) {
    state.service = LoadService(records);
    records += kServiceRecord;
  }
  return services;
}

std::vector<Operation> LoadOperations(const uint8_t* records, size_t size) {
  std::vector<Operation> operations;
  operations.reserve(size / kOperationRecord);
  for (const uint8_t* record = records; size >= kOperationRecord; record += kOperationRecord) {
    operations.push_back(
        Operation{static_cast<Verb>(record[0]), LoadService(record + 8), LoadServer(record + 80)});
    size -= kOperationRecord;
  }
  return operations;
}

std::vector<uint8_t> StoreListing(const std::vector<ServiceState>& services) {
  size_t size = 0;
  for (const ServiceState& service : services) {
    size += kListedServiceRecord + service.servers.size() * kListedServerRecord;
  }
  std::vector<uint8_t> listing(size);
  uint8_t* next = listing.data();
  for (const ServiceState& service : services) {
    StoreService(service, next);
    StoreCounters(service.counters, next + kServiceRecord);
    next += kListedServiceRecord;
    for (const RealServerState& server : service.servers) {
      StoreServer(server.server, next);
      Store32(next + kServerRecord, server.active_connections);
      Store32(next + kServerRecord + 4, server.inactive_connections);
      Store32(next + kServerRecord + 8, server.persistent_connections);
      StoreCounters(server.counters, next + kServerRecord + 16);
      next += kListedServerRecord;
    }
  }
  return listing;
}

}  // namespace knp::ipvs
