#include "ipvs/records.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>

#include "records/fields.h"

namespace knp::ipvs {
namespace {

using records::At;
using records::Load;
using records::Store;

uint32_t NetmaskOf(uint16_t family, uint8_t prefix) {
  if (family == AF_INET6) return prefix;
  return prefix == 0 ? 0 : htonl(~uint32_t{0} << (32 - std::min<uint8_t>(prefix, 32)));
}

// 0 for an IPv4 mask with holes, which is not a prefix.
uint8_t PrefixOf(uint16_t family, uint32_t netmask) {
  if (family == AF_INET6) return static_cast<uint8_t>(std::min<uint32_t>(netmask, 128));
  uint8_t prefix = 0;
  for (uint32_t bits = ntohl(netmask); (bits & 0x80000000U) != 0; bits <<= 1) prefix++;
  return NetmaskOf(family, prefix) == netmask ? prefix : 0;
}

RealServer LoadServer(const uint8_t* record) {
  using Field = layout::Server;
  RealServer server;
  server.family = records::LoadFamily(record, Field::kFamily);
  server.forwarding = Load(record, Field::kForwarding);
  server.port = Load(record, Field::kPort);
  server.weight = Load(record, Field::kWeight);
  server.upper_threshold = Load(record, Field::kUpperThreshold);
  server.lower_threshold = Load(record, Field::kLowerThreshold);
  server.tunnel = Tunnel{Load(record, Field::kTunnelType), Load(record, Field::kTunnelPort),
                         Load(record, Field::kTunnelFlags)};
  server.address = Load(record, Field::kAddress);
  return server;
}

Daemon LoadDaemon(const uint8_t* record) {
  using Field = layout::Daemon;
  Daemon daemon;
  daemon.state = Load(record, Field::kState);
  daemon.sync_id = Load(record, Field::kSyncId);
  daemon.interface = Load(record, Field::kInterface);
  daemon.max_length = Load(record, Field::kMaxLength);
  daemon.group_family = records::LoadFamily(record, Field::kFamily);
  daemon.group = Load(record, Field::kGroup);
  daemon.port = Load(record, Field::kPort);
  daemon.ttl = Load(record, Field::kTtl);
  return daemon;
}

void StoreDaemon(const Daemon& daemon, uint8_t* record) {
  using Field = layout::Daemon;
  Store(record, Field::kState, daemon.state);
  Store(record, Field::kSyncId, daemon.sync_id);
  Store(record, Field::kInterface, daemon.interface);
  Store(record, Field::kMaxLength, daemon.max_length);
  records::StoreFamily(record, Field::kFamily, daemon.group_family);
  Store(record, Field::kGroup, daemon.group);
  Store(record, Field::kPort, daemon.port);
  Store(record, Field::kTtl, daemon.ttl);
}

Timeouts LoadTimeouts(const uint8_t* record) {
  using Field = layout::Timeouts;
  return Timeouts{Load(record, Field::kTcp), Load(record, Field::kTcpFin), Load(record, Field::kUdp)};
}

ServiceId LoadServiceId(const uint8_t* record) {
  using Field = layout::Service;
  ServiceId id;
  id.family = records::LoadFamily(record, Field::kFamily);
  id.protocol = Load(record, Field::kProtocol);
  id.port = Load(record, Field::kPort);
  id.firewall_mark = Load(record, Field::kFirewallMark);
  id.address = Load(record, Field::kAddress);
  return id;
}

Operation LoadOperation(const uint8_t* record) {
  using Field = layout::Operation;
  Operation operation;
  operation.verb = static_cast<Verb>(Load(record, Field::kVerb));
  const uint8_t* service = Load(record, Field::kService);
  if (operation.verb == Verb::kAddService || operation.verb == Verb::kUpdateService) {
    operation.service = LoadService(service);
  } else {
    operation.service.id = LoadServiceId(service);
  }
  const uint8_t* argument = Load(record, Field::kArgument);
  switch (operation.verb) {
    case Verb::kAddRealServer:
    case Verb::kUpdateRealServer:
    case Verb::kDeleteRealServer:
      operation.server = LoadServer(argument);
      break;
    case Verb::kStartDaemon:
    case Verb::kStopDaemon:
      operation.daemon = LoadDaemon(argument);
      break;
    case Verb::kSetTimeouts:
      operation.timeouts = LoadTimeouts(argument);
      break;
    default:
      break;
  }
  return operation;
}

void StoreCounters(const Counters& counters, uint8_t* record) {
  using Field = layout::Counters;
  Store(record, Field::kConnections, counters.connections);
  Store(record, Field::kInPackets, counters.in_packets);
  Store(record, Field::kOutPackets, counters.out_packets);
  Store(record, Field::kInBytes, counters.in_bytes);
  Store(record, Field::kOutBytes, counters.out_bytes);
}

void StoreServer(const RealServer& server, uint8_t* record) {
  using Field = layout::Server;
  records::StoreFamily(record, Field::kFamily, server.family);
  Store(record, Field::kForwarding, server.forwarding);
  Store(record, Field::kPort, server.port);
  Store(record, Field::kWeight, server.weight);
  Store(record, Field::kUpperThreshold, server.upper_threshold);
  Store(record, Field::kLowerThreshold, server.lower_threshold);
  Store(record, Field::kTunnelType, server.tunnel.type);
  Store(record, Field::kTunnelPort, server.tunnel.port);
  Store(record, Field::kTunnelFlags, server.tunnel.flags);
  Store(record, Field::kAddress, server.address);
}

void StoreListedServer(const RealServerState& state, uint8_t* record) {
  using Field = layout::ListedServer;
  StoreServer(state.server, At(record, Field::kServer));
  Store(record, Field::kActiveConnections, state.active_connections);
  Store(record, Field::kInactiveConnections, state.inactive_connections);
  Store(record, Field::kPersistentConnections, state.persistent_connections);
  StoreCounters(state.counters, At(record, Field::kCounters));
  StoreCounters(state.rates, At(record, Field::kRates));
}

void StoreService(const Service& service, size_t real_servers, uint8_t* record) {
  using Field = layout::Service;
  records::StoreFamily(record, Field::kFamily, service.id.family);
  Store(record, Field::kProtocol, service.id.protocol);
  Store(record, Field::kPort, service.id.port);
  Store(record, Field::kFirewallMark, service.id.firewall_mark);
  Store(record, Field::kFlags, service.flags);
  Store(record, Field::kTimeout, service.timeout);
  Store(record, Field::kNetmask, PrefixOf(service.id.family, service.netmask));
  Store(record, Field::kRealServers, real_servers);
  Store(record, Field::kAddress, service.id.address);
  Store(record, Field::kScheduler, service.scheduler);
  Store(record, Field::kPersistenceEngine, service.persistence_engine);
}

void StoreListedService(const ServiceState& state, uint8_t* record) {
  using Field = layout::ListedService;
  StoreService(state.service, state.servers.size(), At(record, Field::kService));
  StoreCounters(state.counters, At(record, Field::kCounters));
  StoreCounters(state.rates, At(record, Field::kRates));
}

}  // namespace

Service LoadService(const uint8_t* record) {
  using Field = layout::Service;
  Service service;
  service.id = LoadServiceId(record);
  service.flags = Load(record, Field::kFlags);
  service.timeout = Load(record, Field::kTimeout);
  service.netmask = NetmaskOf(service.id.family, Load(record, Field::kNetmask));
  service.scheduler = Load(record, Field::kScheduler);
  service.persistence_engine = Load(record, Field::kPersistenceEngine);
  return service;
}

std::vector<ServiceId> LoadServiceIds(const uint8_t* records, size_t size) {
  return records::LoadEach<layout::Service>(records, size, LoadServiceId);
}

void AppendService(const Service& service, std::vector<uint8_t>* listing) {
  listing->resize(listing->size() + layout::Service::kSize);
  StoreService(service, 0, listing->data() + listing->size() - layout::Service::kSize);
}

void AppendServer(const RealServer& server, size_t service, std::vector<uint8_t>* listing) {
  using Field = layout::Service;
  listing->resize(listing->size() + layout::Server::kSize);
  StoreServer(server, listing->data() + listing->size() - layout::Server::kSize);
  uint8_t* record = listing->data() + service;
  Store(record, Field::kRealServers, Load(record, Field::kRealServers) + 1);
}

Operation OperationRecords::operator[](size_t index) const {
  return LoadOperation(records_ + index * layout::Operation::kSize);
}

std::vector<uint8_t> StoreListing(const std::vector<ServiceState>& services) {
  size_t size = 0;
  for (const ServiceState& service : services) {
    size += layout::ListedService::kSize + service.servers.size() * layout::ListedServer::kSize;
  }
  std::vector<uint8_t> listing(size);
  uint8_t* next = listing.data();
  for (const ServiceState& service : services) {
    StoreListedService(service, next);
    next += layout::ListedService::kSize;
    for (const RealServerState& server : service.servers) {
      StoreListedServer(server, next);
      next += layout::ListedServer::kSize;
    }
  }
  return listing;
}

std::vector<uint8_t> StoreInfo(const Info& info) {
  using Field = layout::KernelIpvs;
  std::vector<uint8_t> record(Field::kSize);
  Store(record.data(), Field::kVersion, info.version);
  Store(record.data(), Field::kConnectionTableSize, info.connection_table_size);
  return record;
}

std::vector<uint8_t> StoreTimeouts(const Timeouts& timeouts) {
  using Field = layout::Timeouts;
  std::vector<uint8_t> record(Field::kSize);
  Store(record.data(), Field::kTcp, timeouts.tcp);
  Store(record.data(), Field::kTcpFin, timeouts.tcp_fin);
  Store(record.data(), Field::kUdp, timeouts.udp);
  return record;
}

std::vector<uint8_t> StoreDaemons(const std::vector<Daemon>& daemons) {
  return records::StoreEach<layout::Daemon>(daemons, StoreDaemon);
}

}  // namespace knp::ipvs
