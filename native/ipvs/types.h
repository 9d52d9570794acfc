// Virtual services and real servers, as plain structs. Names of constants and rules:
// include/uapi/linux/ip_vs.h.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ipvs/layouts.h"

namespace knp::ipvs {

// An address in network order; 4 bytes used for AF_INET, 16 for AF_INET6, the rest zero.
using AddressBytes = std::array<uint8_t, 16>;

// The name of a virtual service: the mark when it is not 0, else protocol, address and port.
struct ServiceId {
  uint16_t family = 0;    // AF_INET, AF_INET6
  uint16_t protocol = 0;  // IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP; the kernel keeps any other too
  uint16_t port = 0;      // host order
  uint32_t firewall_mark = 0;
  AddressBytes address{};
};

struct Service {
  ServiceId id;
  std::string scheduler;  // "none": without one
  uint32_t flags = 0;     // IP_VS_SVC_F_…
  uint32_t timeout = 0;   // in s
  uint32_t netmask =
      0;  // AF_INET: the mask in network order; AF_INET6: the prefix length; as the kernel has it
  std::string persistence_engine;  // empty: none
};

// 64 bits since Linux 4.1; before that 32-bit counters are read into the same fields.
struct Counters {
  uint64_t connections = 0;
  uint64_t in_packets = 0;
  uint64_t out_packets = 0;
  uint64_t in_bytes = 0;
  uint64_t out_bytes = 0;
};

// IP_VS_CONN_F_TUNNEL_TYPE_… and IP_VS_TUNNEL_ENCAP_FLAG_…; Linux 5.2 (5.3 for GRE).
struct Tunnel {
  uint8_t type = 0;   // 0 IPIP, 1 GUE, 2 GRE; any other in a listing
  uint16_t port = 0;  // GUE only; host order
  uint16_t flags = 0;
};

// Per second, as the kernel estimates them every 2 s.
using Rates = Counters;

struct RealServer {
  uint16_t family = 0;
  uint16_t port = 0;  // host order
  AddressBytes address{};
  uint32_t forwarding = 0;  // IP_VS_CONN_F_MASQ, …: the bits of IP_VS_CONN_F_FWD_MASK
  uint32_t weight = 0;
  uint32_t upper_threshold = 0;
  uint32_t lower_threshold = 0;
  Tunnel tunnel;
};

struct RealServerState {
  RealServer server;
  uint32_t active_connections = 0;
  uint32_t inactive_connections = 0;
  uint32_t persistent_connections = 0;
  Counters counters;
  Rates rates;
};

struct ServiceState {
  Service service;
  Counters counters;
  Rates rates;
  std::vector<RealServerState> servers;
};

// In s.
struct Timeouts {
  uint32_t tcp = 0;
  uint32_t tcp_fin = 0;
  uint32_t udp = 0;
};

// A sync daemon. In an operation, 0 in a field after the interface leaves the value to the kernel.
struct Daemon {
  uint32_t state = 0;    // IP_VS_STATE_MASTER, IP_VS_STATE_BACKUP
  uint32_t sync_id = 0;  // 0 to 255 in an operation
  std::string interface;
  uint16_t max_length = 0;    // of a message, in bytes
  uint16_t group_family = 0;  // AF_INET, AF_INET6
  AddressBytes group{};       // multicast address
  uint16_t port = 0;          // host order
  uint8_t ttl = 0;
};

// One change. Of `service`, the verbs on servers use the id only, and so does kZero, where a family of 0
// stands for all services. Of `server`, kDeleteRealServer uses the name only; of `daemon`, kStopDaemon the
// state only.
struct Operation {
  Verb verb = Verb::kAddService;
  Service service;
  RealServer server;
  Daemon daemon;
  Timeouts timeouts;
};

struct Info {
  uint32_t version = 0;  // NVERSION(major, minor, patch): one byte each
  uint32_t connection_table_size = 0;
};

}  // namespace knp::ipvs
