// Tuples ↔ nested attributes: of flows, of filters and of expectations.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conntrack/types.h"
#include "netlink/attribute_reader.h"
#include "netlink/message_builder.h"

namespace knp::conntrack {

constexpr uint8_t kWholeTuple = kAddresses | kPorts;

// Begins an attribute that holds attributes, with NLA_F_NESTED; MessageBuilder::EndNested() ends it.
size_t BeginNested(netlink::MessageBuilder* builder, uint16_t type);

// CTA_TUPLE_IP with the addresses that are among `fields`.
void PutAddresses(netlink::MessageBuilder* builder, uint16_t family, const Tuple& tuple, uint8_t fields);
// CTA_TUPLE_PROTO with the protocol, and the ports, or the identifier, type and code of ICMP, that are among
// `fields`.
void PutProtocol(netlink::MessageBuilder* builder, uint8_t protocol, const Tuple& tuple, uint8_t fields);
// A whole tuple; a zone that is not 0 is that of its direction.
void PutTuple(netlink::MessageBuilder* builder, uint16_t type, uint16_t family, uint8_t protocol,
              const Tuple& tuple, uint16_t zone = 0);

// A tuple that was read.
struct ReadTuple {
  Tuple tuple;
  uint8_t protocol = 0;
  uint16_t zone = 0;
  uint8_t four = 0;  // sums of kSource, kDestination: the addresses by family
  uint8_t six = 0;
  bool has_protocol = false;

  // Whether there were both addresses, of this family and no other, and a protocol.
  bool IsWhole(uint16_t family) const;
};

void Read(netlink::AttributeReader attributes, ReadTuple* out);

}  // namespace knp::conntrack
