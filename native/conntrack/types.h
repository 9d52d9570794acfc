// Flows as the kernel tracks them, as plain structs. Names of constants and rules:
// include/uapi/linux/netfilter/nfnetlink_conntrack.h and net/netfilter/nf_conntrack_netlink.c.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conntrack/layouts.h"
#include "conntrack/settings.h"

namespace knp::conntrack {

using Address = std::array<uint8_t, 16>;  // network order; 4 bytes used for AF_INET, the rest zero
using Labels = std::array<uint8_t, 16>;   // 128 bits, bit 0 first

// Whom the packets of one direction are from and to (struct nf_conntrack_tuple).
struct Tuple {
  Address source{};
  Address destination{};
  // Of ICMP, source_port is the identifier, and destination_port is type << 8 | code, as in the kernel's
  // union. 0 for protocols with neither.
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
};

// The packets of one direction, since the flow began or its counters were set to zero.
struct Counters {
  uint64_t packets = 0;
  uint64_t bytes = 0;
};

// Parts that most flows do not have.
struct Details {
  Counters original;
  Counters reply;
  uint64_t start = 0;  // ns since 1970
  uint64_t stop = 0;
  Labels labels{};
  uint32_t original_tag = 0;  // verification tags of SCTP
  uint32_t reply_tag = 0;
  std::string helper;  // empty for none
  std::string secctx;  // empty for none
  uint8_t master_protocol = 0;
  Tuple master;  // original tuple of the flow that this one belongs to
};

struct Flow {
  uint16_t family = 0;      // AF_INET, AF_INET6
  uint8_t protocol = 0;     // IPPROTO_…
  uint8_t fields = 0;       // a sum of FlowField: the optional parts that there are
  uint8_t state = 0;        // of TCP (enum tcp_conntrack) or SCTP (enum sctp_conntrack)
  uint16_t zone = 0;        // of the original direction; 0 is the default one
  uint16_t reply_zone = 0;  // of the reply direction
  uint32_t id = 0;          // CTA_ID; 0 when naming a flow, for whichever has the tuple
  uint32_t status = 0;      // IPS_…
  uint32_t mark = 0;
  uint32_t timeout = 0;  // seconds left
  uint32_t use = 0;      // references that the kernel holds
  Tuple original;
  Tuple reply;
  std::shared_ptr<Details> details;  // null for none
};

// The range of addresses and ports to one of which NAT translates. Ports 0 for any.
struct Translation {
  Address first{};
  Address last{};
  uint16_t first_port = 0;
  uint16_t last_port = 0;
};

// One operation of a batch.
struct Operation {
  Verb verb = Verb::kDeleteFlow;
  uint8_t given = 0;  // a sum of GivenField: what of `flow` an addition or an update sets
  Flow flow;
  uint32_t mark_mask = 0;  // the bits of the mark that are replaced
  Labels labels_mask{};    // the labels that are replaced
  Translation source;
  Translation destination;
};

// A flow that is to begin, to which a helper, or a user of ctnetlink, has given a master
// (struct nf_conntrack_expect).
struct Expectation {
  uint16_t family = 0;
  uint8_t protocol = 0;
  uint8_t master_protocol = 0;
  uint16_t zone = 0;
  uint32_t id = 0;
  uint32_t timeout = 0;  // seconds left
  uint32_t flags = 0;    // NF_CT_EXPECT_…
  uint32_t policy = 0;   // CTA_EXPECT_CLASS
  Tuple tuple;
  Tuple mask;  // bits of `tuple` that count
  Tuple master;
  std::string helper;
};

constexpr uint8_t kAddresses = kSource | kDestination;
constexpr uint8_t kIcmpKind = kIcmpType | kIcmpCode;
constexpr uint8_t kPorts = kSourcePort | kDestinationPort;

struct TupleFilter {
  uint8_t fields = 0;  // that are compared: a sum of TupleField
  Tuple tuple;
  uint8_t source_prefix = 0;  // bits of the addresses that are compared
  uint8_t destination_prefix = 0;
};

// A selection of flows: those that match in every given field.
struct Filter {
  uint16_t family = 0;     // AF_UNSPEC for both
  uint8_t protocol = 0;    // 0 for any
  uint8_t conditions = 0;  // a sum of Condition: which of the fields from `zone` on are compared
  TupleFilter original;
  TupleFilter reply;
  uint16_t zone = 0;
  uint16_t reply_zone = 0;
  uint32_t mark = 0;
  uint32_t mark_mask = 0;
  uint32_t status = 0;  // the bits of status_mask must have these values
  uint32_t status_mask = 0;
  Labels labels{};  // that the flow must have
};

// Counters of one CPU (struct ip_conntrack_stat).
struct CpuStatistics {
  uint16_t cpu = 0;
  uint32_t found = 0;
  uint32_t invalid = 0;
  uint32_t insert = 0;
  uint32_t insert_failed = 0;
  uint32_t drop = 0;
  uint32_t early_drop = 0;
  uint32_t error = 0;
  uint32_t search_restart = 0;
  uint32_t clash_resolve = 0;
  uint32_t chain_too_long = 0;
};

// What the kernel offers.
struct Capabilities {
  Settings settings;
  bool zones = false;
  bool delete_by_filter = false;
};

struct Statistics {
  uint32_t entries = 0;
  uint32_t max_entries = 0;  // 0 where the kernel does not report it (before 4.18)
  std::vector<CpuStatistics> cpus;
};

}  // namespace knp::conntrack
