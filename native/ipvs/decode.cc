#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <sys/socket.h>

#include <array>

#include "ipvs/codec.h"

namespace knp::ipvs {
namespace {

using netlink::AttributeReader;
using netlink::FailureKind;
using netlink::Message;
using netlink::ReadError;
using netlink::Status;

// IP_VS_SCHEDNAME_MAXLEN, IP_VS_PENAME_MAXLEN: 16 with the terminator.
constexpr size_t kLongestName = 15;

bool IsInternet(uint16_t family) {
  return family == AF_INET || family == AF_INET6;
}

// Whether an address attribute had enough bytes. The kernel sends 16 for IPv4 too (union nf_inet_addr); the
// 12 that IPv4 does not use are cleared, so that equal addresses are equal bytes.
bool SettleAddress(uint16_t family, size_t received, AddressBytes* address) {
  const size_t needed = family == AF_INET6 ? 16 : 4;
  for (size_t i = needed; i < address->size(); i++) (*address)[i] = 0;
  return received >= needed;
}

// Counters and rates, IPVS_STATS_ATTR_…, in both widths: 64 bits in IPVS_…_ATTR_STATS64. The byte counters of
// the 32-bit attribute have always had 64 bits.
struct Statistics {
  Counters counters;
  Rates rates;
  bool has_64_bits = false;
};

// The counters in the order of IPVS_STATS_ATTR_CONNS and the following, and of IPVS_STATS_ATTR_CPS for rates.
constexpr uint64_t Counters::*kCounters[] = {&Counters::connections, &Counters::in_packets,
                                             &Counters::out_packets, &Counters::in_bytes,
                                             &Counters::out_bytes};
static_assert(IPVS_STATS_ATTR_OUTBYTES - IPVS_STATS_ATTR_CONNS == 4);
static_assert(IPVS_STATS_ATTR_OUTBPS - IPVS_STATS_ATTR_CPS == 4);

void ReadStatistics(AttributeReader attributes, bool has_64_bits, Statistics* out) {
  if (out == nullptr || (out->has_64_bits && !has_64_bits)) return;
  out->has_64_bits = has_64_bits;
  while (attributes.Next()) {
    const uint16_t type = attributes.type();
    if (type < IPVS_STATS_ATTR_CONNS || type > IPVS_STATS_ATTR_OUTBPS) continue;
    const uint64_t value = attributes.size() == 4 ? attributes.U32() : attributes.U64();
    if (type < IPVS_STATS_ATTR_CPS) {
      out->counters.*kCounters[type - IPVS_STATS_ATTR_CONNS] = value;
    } else {
      out->rates.*kCounters[type - IPVS_STATS_ATTR_CPS] = value;
    }
  }
}

// The attributes of IPVS_CMD_ATTR_SERVICE.
struct ServiceAttributes {
  Service service;
  size_t address_size = 0;
  bool named = false;                // has a mark or a protocol
  Statistics* statistics = nullptr;  // null: not read
};

void ReadService(AttributeReader attributes, ServiceAttributes* out) {
  Service& service = out->service;
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPVS_SVC_ATTR_AF:
        service.id.family = attributes.U16();
        break;
      case IPVS_SVC_ATTR_PROTOCOL:
        service.id.protocol = attributes.U16();
        out->named = true;
        break;
      case IPVS_SVC_ATTR_ADDR:
        out->address_size = attributes.Bytes(service.id.address.data(), service.id.address.size());
        break;
      case IPVS_SVC_ATTR_PORT:
        service.id.port = attributes.BigEndian16();
        break;
      case IPVS_SVC_ATTR_FWMARK:
        service.id.firewall_mark = attributes.U32();
        out->named = true;
        break;
      case IPVS_SVC_ATTR_SCHED_NAME:
        service.scheduler = attributes.String(kLongestName);
        break;
      case IPVS_SVC_ATTR_FLAGS:
        service.flags = attributes.Struct<ip_vs_flags>().flags & ~uint32_t{IP_VS_SVC_F_HASHED};
        break;
      case IPVS_SVC_ATTR_TIMEOUT:
        service.timeout = attributes.U32();
        break;
      case IPVS_SVC_ATTR_NETMASK:
        service.netmask = attributes.U32();
        break;
      case IPVS_SVC_ATTR_PE_NAME:
        service.persistence_engine = attributes.String(kLongestName);
        break;
      case IPVS_SVC_ATTR_STATS:
        ReadStatistics(attributes.Nested(), false, out->statistics);
        break;
      case IPVS_SVC_ATTR_STATS64:
        ReadStatistics(attributes.Nested(), true, out->statistics);
        break;
      default:
        break;
    }
  }
}

// The attributes of IPVS_CMD_ATTR_DEST.
struct ServerAttributes {
  RealServerState state;
  size_t address_size = 0;
  Statistics* statistics = nullptr;  // null: not read
};

void ReadServer(AttributeReader attributes, ServerAttributes* out) {
  RealServer& server = out->state.server;
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPVS_DEST_ATTR_ADDR_FAMILY:
        server.family = attributes.U16();
        break;
      case IPVS_DEST_ATTR_ADDR:
        out->address_size = attributes.Bytes(server.address.data(), server.address.size());
        break;
      case IPVS_DEST_ATTR_PORT:
        server.port = attributes.BigEndian16();
        break;
      case IPVS_DEST_ATTR_FWD_METHOD:
        server.forwarding = attributes.U32() & IP_VS_CONN_F_FWD_MASK;
        break;
      case IPVS_DEST_ATTR_WEIGHT:
        server.weight = attributes.U32();
        break;
      case IPVS_DEST_ATTR_U_THRESH:
        server.upper_threshold = attributes.U32();
        break;
      case IPVS_DEST_ATTR_L_THRESH:
        server.lower_threshold = attributes.U32();
        break;
      case IPVS_DEST_ATTR_TUN_TYPE:
        server.tunnel.type = attributes.U8();
        break;
      case IPVS_DEST_ATTR_TUN_PORT:
        server.tunnel.port = attributes.BigEndian16();
        break;
      case IPVS_DEST_ATTR_TUN_FLAGS:
        server.tunnel.flags = attributes.U16();
        break;
      case IPVS_DEST_ATTR_ACTIVE_CONNS:
        out->state.active_connections = attributes.U32();
        break;
      case IPVS_DEST_ATTR_INACT_CONNS:
        out->state.inactive_connections = attributes.U32();
        break;
      case IPVS_DEST_ATTR_PERSIST_CONNS:
        out->state.persistent_connections = attributes.U32();
        break;
      case IPVS_DEST_ATTR_STATS:
        ReadStatistics(attributes.Nested(), false, out->statistics);
        break;
      case IPVS_DEST_ATTR_STATS64:
        ReadStatistics(attributes.Nested(), true, out->statistics);
        break;
      default:
        break;
    }
  }
}

void ReadDaemon(AttributeReader attributes, Daemon* out) {
  std::array<uint8_t, 4> group{};
  while (attributes.Next()) {
    attributes.Read(IPVS_DAEMON_ATTR_STATE, &out->state);
    attributes.Read(IPVS_DAEMON_ATTR_SYNC_ID, &out->sync_id);
    attributes.Read(IPVS_DAEMON_ATTR_SYNC_MAXLEN, &out->max_length);
    attributes.Read(IPVS_DAEMON_ATTR_MCAST_PORT, &out->port);
    attributes.Read(IPVS_DAEMON_ATTR_MCAST_TTL, &out->ttl);
    if (attributes.type() == IPVS_DAEMON_ATTR_MCAST_IFN) out->interface = attributes.String(kLongestName);
    if (attributes.Read(IPVS_DAEMON_ATTR_MCAST_GROUP6, &out->group)) out->group_family = AF_INET6;
    if (attributes.Read(IPVS_DAEMON_ATTR_MCAST_GROUP, &group)) {
      out->group_family = AF_INET;
      out->group = {group[0], group[1], group[2], group[3]};
    }
  }
}

// The attributes of the first level (IPVS_CMD_ATTR_…); ends the reader at once when there is no genlmsghdr.
AttributeReader FirstLevel(const Message& message, ReadError* error) {
  if (message.size < sizeof(genlmsghdr)) error->reason = "no generic netlink header";
  return message.Attributes(sizeof(genlmsghdr), error);
}

Status ReadNamedService(const Message& message, ServiceAttributes* out) {
  ReadError error;
  AttributeReader attributes = FirstLevel(message, &error);
  bool found = false;
  while (attributes.Next()) {
    if (attributes.type() != IPVS_CMD_ATTR_SERVICE) continue;
    found = true;
    ReadService(attributes.Nested(), out);
  }
  ServiceId& id = out->service.id;
  const bool address = SettleAddress(id.family, out->address_size, &id.address) || id.firewall_mark != 0;
  if (!error.ok()) return error.ToStatus();
  if (!found || !IsInternet(id.family) || !out->named || !address) {
    return Status::Of(FailureKind::kMalformedReply, "virtual service without a name");
  }
  return {};
}

Status ReadNamedServer(const Message& message, uint16_t service_family, ServerAttributes* out) {
  RealServer& server = out->state.server;
  server.family = service_family;
  ReadError error;
  AttributeReader attributes = FirstLevel(message, &error);
  bool found = false;
  while (attributes.Next()) {
    if (attributes.type() != IPVS_CMD_ATTR_DEST) continue;
    found = true;
    ReadServer(attributes.Nested(), out);
  }
  const bool address = SettleAddress(server.family, out->address_size, &server.address);
  if (!error.ok()) return error.ToStatus();
  if (!found || !IsInternet(server.family) || !address) {
    return Status::Of(FailureKind::kMalformedReply, "real server without a name");
  }
  return {};
}

}  // namespace

Status DecodeService(const Message& message, ServiceState* out) {
  Statistics statistics;
  ServiceAttributes read;
  read.statistics = &statistics;
  Status status = ReadNamedService(message, &read);
  if (!status.ok()) return status;
  out->service = std::move(read.service);
  out->counters = statistics.counters;
  out->rates = statistics.rates;
  return {};
}

Status DecodeService(const Message& message, Service* out) {
  ServiceAttributes read;
  Status status = ReadNamedService(message, &read);
  if (status.ok()) *out = std::move(read.service);
  return status;
}

Status DecodeServiceId(const Message& message, ServiceId* out) {
  ServiceAttributes read;
  Status status = ReadNamedService(message, &read);
  if (status.ok()) *out = read.service.id;
  return status;
}

Status DecodeServer(const Message& message, uint16_t service_family, RealServerState* out) {
  Statistics statistics;
  ServerAttributes read;
  read.statistics = &statistics;
  Status status = ReadNamedServer(message, service_family, &read);
  if (!status.ok()) return status;
  *out = read.state;
  out->counters = statistics.counters;
  out->rates = statistics.rates;
  return {};
}

Status DecodeServer(const Message& message, uint16_t service_family, RealServer* out) {
  ServerAttributes read;
  Status status = ReadNamedServer(message, service_family, &read);
  if (status.ok()) *out = read.state.server;
  return status;
}

Status DecodeDaemon(const Message& message, Daemon* out) {
  ReadError error;
  AttributeReader attributes = FirstLevel(message, &error);
  bool found = false;
  while (attributes.Next()) {
    if (attributes.type() != IPVS_CMD_ATTR_DAEMON) continue;
    found = true;
    ReadDaemon(attributes.Nested(), out);
  }
  if (!error.ok()) return error.ToStatus();
  // A state of a newer kernel is kept as its number.
  if (!found || out->state == IP_VS_STATE_NONE || out->interface.empty()) {
    return Status::Of(FailureKind::kMalformedReply, "sync daemon without state or interface");
  }
  return {};
}

Status DecodeInfo(const Message& message, Info* out) {
  ReadError error;
  AttributeReader attributes = FirstLevel(message, &error);
  while (attributes.Next()) {
    attributes.Read(IPVS_INFO_ATTR_VERSION, &out->version);
    attributes.Read(IPVS_INFO_ATTR_CONN_TAB_SIZE, &out->connection_table_size);
  }
  return error.ToStatus();
}

Status DecodeTimeouts(const Message& message, Timeouts* out) {
  ReadError error;
  AttributeReader attributes = FirstLevel(message, &error);
  while (attributes.Next()) {
    attributes.Read(IPVS_CMD_ATTR_TIMEOUT_TCP, &out->tcp);
    attributes.Read(IPVS_CMD_ATTR_TIMEOUT_TCP_FIN, &out->tcp_fin);
    attributes.Read(IPVS_CMD_ATTR_TIMEOUT_UDP, &out->udp);
  }
  return error.ToStatus();
}

}  // namespace knp::ipvs
