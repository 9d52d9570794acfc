// Requests of ip → structs → the same bytes; answers of the kernel → structs. Expected values:
// captures/route-replies.txt.
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "check.h"
#include "messages.h"
#include "rtnetlink/codec.h"
#include "rtnetlink/records.h"

namespace {

using knp::netlink::Fault;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::rtnetlink::Address;
using knp::rtnetlink::Link;
using knp::test::Capture;
using knp::test::MessagesOf;
using knp::test::WithSenderOf;

Address AddressRoundTrip(const std::string& name, bool add) {
  const std::vector<uint8_t> bytes = Capture(name);
  Address address;
  CHECK(DecodeAddress(MessagesOf(bytes)[0], &address).ok());
  std::vector<uint8_t> ours;
  MessageBuilder builder(&ours);
  CHECK(add ? EncodeNewAddress(&builder, NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL, address)
            : EncodeDeleteAddress(&builder, NLM_F_ACK, address));
  CHECK_EQUAL(WithSenderOf(ours, bytes), bytes);
  return address;
}

std::vector<Address> Addresses(const std::string& name) {
  std::vector<Address> addresses;
  const std::vector<uint8_t> bytes = Capture(name);
  for (const Message& message : MessagesOf(bytes)) {
    CHECK(DecodeAddress(message, &addresses.emplace_back()).ok());
  }
  return addresses;
}

}  // namespace

TEST(IpAddsAndDeletesAddresses) {
  const Address v4 = AddressRoundTrip("route-add-address.request", true);
  CHECK_EQUAL(v4.family, AF_INET);
  CHECK_EQUAL(v4.prefix, 32);
  CHECK_EQUAL(v4.scope, RT_SCOPE_UNIVERSE);
  CHECK(v4.bytes == (std::array<uint8_t, 16>{10, 96, 0, 1}));
  CHECK_EQUAL(AddressRoundTrip("route-add-address-prefix.request", true).prefix, 24);
  const Address v6 = AddressRoundTrip("route-add-address6.request", true);
  CHECK_EQUAL(v6.family, AF_INET6);
  CHECK_EQUAL(v6.prefix, 128);
  CHECK_EQUAL(+v6.bytes[15], 1);
  const Address deleted = AddressRoundTrip("route-delete-address.request", false);
  CHECK(deleted.bytes == v4.bytes);
  CHECK_EQUAL(deleted.link_index, v4.link_index);
  CHECK(AddressRoundTrip("route-delete-address6.request", false).bytes == v6.bytes);
}

TEST(AllFieldsOfAnAddressAreWrittenAndRead) {
  Address address;
  address.family = AF_INET;
  address.prefix = 24;
  address.scope = RT_SCOPE_LINK;
  address.flags = IFA_F_NOPREFIXROUTE | IFA_F_HOMEADDRESS;
  address.link_index = 7;
  address.metric = 300;
  address.valid = 120;
  address.preferred = 60;
  address.label = "eth0:1";
  address.protocol = 200;
  address.bytes = {10, 0, 0, 1};
  address.peer = {10, 0, 0, 2};
  address.broadcast = {10, 0, 0, 255};
  address.has_broadcast = true;
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  CHECK(EncodeNewAddress(&builder, 0, address));
  Address read;
  CHECK(DecodeAddress(MessagesOf(bytes)[0], &read).ok());
  CHECK_EQUAL(read.scope, address.scope);
  CHECK_EQUAL(read.flags, address.flags);
  CHECK_EQUAL(read.metric, address.metric);
  CHECK_EQUAL(read.valid, address.valid);
  CHECK_EQUAL(read.preferred, address.preferred);
  CHECK_EQUAL(read.label, address.label);
  CHECK_EQUAL(+read.protocol, 200);
  CHECK(read.others.empty());
  CHECK(read.bytes == address.bytes);
  CHECK(read.peer == address.peer);
  CHECK(read.has_broadcast);
  CHECK(read.broadcast == address.broadcast);
}

TEST(WhatANewerKernelSaysOfAnAddressIsKept) {
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  builder.Begin(RTM_NEWADDR, 0, 0);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = 24;
  builder.PutHeader(header);
  const uint8_t local[4] = {10, 0, 0, 1};
  builder.PutBytes(IFA_LOCAL, local, sizeof(local));
  struct {
    ifa_cacheinfo known;
    uint32_t more;
  } lifetimes{};
  lifetimes.known.ifa_valid = 120;
  lifetimes.known.ifa_prefered = 60;
  builder.PutBytes(IFA_CACHEINFO, &lifetimes, sizeof(lifetimes));
  const uint8_t value[5] = {1, 2, 3, 4, 5};
  builder.PutBytes(200, value, sizeof(value));
  CHECK(builder.End());
  Address address;
  CHECK(DecodeAddress(MessagesOf(bytes)[0], &address).ok());
  CHECK_EQUAL(address.valid, 120);
  CHECK_EQUAL(address.preferred, 60);
  CHECK(address.others == (std::vector<uint8_t>{200, 0, 5, 0, 1, 2, 3, 4, 5, 0, 0, 0}));
  const knp::rtnetlink::NamedAddress named{address, "eth0"};
  const std::vector<uint8_t> records = knp::rtnetlink::StoreAddresses({named, named});
  CHECK_EQUAL(records.size(), 2 * (knp::rtnetlink::layout::Address::kSize + 12));
  // A shorter one is malformed.
  bytes[NLMSG_HDRLEN + sizeof(header) + 8] = 4 + 8;
  CHECK(DecodeAddress(MessagesOf(bytes)[0], &address).fault == Fault::kMalformedReply);
}

TEST(ALongNameIsAnAlternativeOne) {
  for (const size_t length : {size_t{1}, size_t{15}, size_t{16}, size_t{127}}) {
    std::vector<uint8_t> bytes;
    MessageBuilder builder(&bytes);
    CHECK(knp::rtnetlink::EncodeGetLink(&builder, std::string(length, 'x')));
    const size_t type = NLMSG_HDRLEN + sizeof(ifinfomsg) + 2;
    CHECK_EQUAL(+bytes[type], length > 15 ? 53 : 3);
  }
}

TEST(TheLinksOfNextHopsAreFound) {
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  builder.Begin(RTM_NEWROUTE, 0, 0);
  builder.PutHeader(rtmsg{});
  builder.PutU32(RTA_OIF, 3);
  const size_t hops = builder.BeginNested(RTA_MULTIPATH);
  for (const int index : {5, 6}) {
    rtnexthop hop{};
    hop.rtnh_len = sizeof(hop) + 8;
    hop.rtnh_ifindex = index;
    builder.PutHeader(hop);
    builder.PutU32(RTA_GATEWAY, 1);
  }
  builder.EndNested(hops);
  CHECK(builder.End());
  std::vector<int32_t> indexes;
  CHECK(knp::rtnetlink::DecodeLinkIndexes(MessagesOf(bytes)[0], &indexes).ok());
  CHECK(indexes == (std::vector<int32_t>{3, 5, 6}));
  // The length of the last next hop.
  bytes[bytes.size() - 16] = 4;
  CHECK(knp::rtnetlink::DecodeLinkIndexes(MessagesOf(bytes)[0], &indexes).fault == Fault::kMalformedReply);
}

TEST(TheKernelListsLinks) {
  // One datagram of the listing: the count identifies its links.
  std::vector<Link> links;
  const std::vector<uint8_t> bytes = Capture("route-links.reply");
  for (const Message& message : MessagesOf(bytes)) CHECK(DecodeLink(message, &links.emplace_back()).ok());
  int seen = 0;
  for (const Link& link : links) {
    if (link.name == "kube-ipvs0") {
      seen |= 1;
      CHECK_EQUAL(link.index, 4);
      CHECK_EQUAL(link.kind, "dummy");
      CHECK_EQUAL(link.flags & (IFF_UP | IFF_NOARP | IFF_BROADCAST), IFF_NOARP | IFF_BROADCAST);
      CHECK_EQUAL(link.mtu, 1500);
    } else if (link.name == "lo") {
      seen |= 2;
      CHECK_EQUAL(link.index, 1);
      CHECK_EQUAL(link.kind, "");
      CHECK_EQUAL(link.mtu, 65536);
      CHECK_EQUAL(link.flags & IFF_UP, IFF_UP);
    } else if (link.name == "knp0") {
      seen |= 4;
      CHECK_EQUAL(link.kind, "veth");
    }
  }
  CHECK_EQUAL(seen, 7);
}

TEST(TheKernelListsAddresses) {
  const std::vector<Address> v4 = Addresses("route-addresses4.reply");
  CHECK_EQUAL(v4.size(), 5);
  CHECK(v4.front().bytes == (std::array<uint8_t, 16>{127, 0, 0, 1}));
  CHECK_EQUAL(v4.front().prefix, 8);
  CHECK_EQUAL(v4.front().scope, RT_SCOPE_HOST);
  CHECK(v4.back().bytes == (std::array<uint8_t, 16>{10, 96, 0, 2}));
  CHECK_EQUAL(v4.back().prefix, 24);
  CHECK_EQUAL(v4.back().link_index, 4);
  CHECK_EQUAL(v4.back().flags, IFA_F_PERMANENT);
  const std::vector<Address> v6 = Addresses("route-addresses6.reply");
  CHECK_EQUAL(v6.size(), 3);
  CHECK_EQUAL(v6.back().link_index, 4);
  CHECK_EQUAL(+v6.back().bytes[0], 0xfd);
  CHECK_EQUAL(v6.back().prefix, 128);
}

TEST(AnAddressOfUnexpectedWidthIsMalformed) {
  std::vector<uint8_t> bytes = Capture("route-add-address.request");
  bytes[NLMSG_HDRLEN] = AF_INET6;  // ifa_family, with addresses of four bytes
  Address address;
  CHECK(DecodeAddress(MessagesOf(bytes)[0], &address).fault == Fault::kMalformedReply);
}
