#include <linux/genetlink.h>
#include <linux/ip_vs.h>
#include <sys/socket.h>

#include <algorithm>
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

void ReadStatistics(AttributeReader attributes, bool has_64_bits, Statistics* out) {
  if (out == nullptr || (out->has_64_bits && !has_64_bits)) return;
  out->has_64_bits = has_64_bits;
  const auto value = [&attributes] { return attributes.size() == 4 ? attributes.U32() : attributes.U64(); };
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPVS_STATS_ATTR_CONNS:
        out->counters.connections = value();
        break;
      case IPVS_STATS_ATTR_INPKTS:
        out->counters.in_packets = value();
        break;
      case IPVS_STATS_ATTR_OUTPKTS:
        out->counters.out_packets = value();
        break;
      case IPVS_STATS_ATTR_INBYTES:
        out->counters.in_bytes = value();
        break;
      case IPVS_STATS_ATTR_OUTBYTES:
        out->counters.out_bytes = value();
        break;
      case IPVS_STATS_ATTR_CPS:
        out->rates.connections = value();
        break;
      case IPVS_STATS_ATTR_INPPS:
        out->rates.in_packets = value();
        break;
      case IPVS_STATS_ATTR_OUTPPS:
        out->rates.out_packets = value();
        break;
      case IPVS_STATS_ATTR_INBPS:
        out->rates.in_bytes = value();
        break;
      case IPVS_STATS_ATTR_OUTBPS:
        out->rates.out_bytes = value();
        break;
      default:
        break;
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

template <typename Bytes>
void SetGroup(uint16_t family, const Bytes& bytes, Daemon* out) {
  out->group_family = family;
  out->group = {};
  std::copy(bytes.begin(), bytes.end(), out->group.begin());
}

void ReadDaemon(AttributeReader attributes, Daemon* out) {
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPVS_DAEMON_ATTR_STATE:
        out->state = attributes.U32();
        break;
      case IPVS_DAEMON_ATTR_MCAST_IFN:
        out->interface = attributes.String(kLongestName);
        break;
      case IPVS_DAEMON_ATTR_SYNC_ID:
        out->sync_id = attributes.U32();
        break;
      case IPVS_DAEMON_ATTR_SYNC_MAXLEN:
        out->max_length = attributes.U16();
        break;
      case IPVS_DAEMON_ATTR_MCAST_GROUP:
        SetGroup(AF_INET, attributes.Fixed<std::array<uint8_t, 4>>(), out);
        break;
      case IPVS_DAEMON_ATTR_MCAST_GROUP6:
        SetGroup(AF_INET6, attributes.Fixed<AddressBytes>(), out);
        break;
      case IPVS_DAEMON_ATTR_MCAST_PORT:
        out->port = attributes.U16();
        break;
      case IPVS_DAEMON_ATTR_MCAST_TTL:
        out->ttl = attributes.U8();
        break;
      default:
        break;
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
    switch (attributes.type()) {
      case IPVS_INFO_ATTR_VERSION:
        out->version = attributes.U32();
        break;
      case IPVS_INFO_ATTR_CONN_TAB_SIZE:
        out->connection_table_size = attributes.U32();
        break;
      default:
        break;
    }
  }
  return error.ToStatus();
}

Status DecodeTimeouts(const Message& message, Timeouts* out) {
  ReadError error;
  AttributeReader attributes = FirstLevel(message, &error);
  while (attributes.Next()) {
    switch (attributes.type()) {
      case IPVS_CMD_ATTR_TIMEOUT_TCP:
        out->tcp = attributes.U32();
        break;
      case IPVS_CMD_ATTR_TIMEOUT_TCP_FIN:
        out->tcp_fin = attributes.U32();
        break;
      case IPVS_CMD_ATTR_TIMEOUT_UDP:
        out->udp = attributes.U32();
        break;
      default:
        break;
    }
  }
  return error.ToStatus();
}

}  // namespace knp::ipvs
