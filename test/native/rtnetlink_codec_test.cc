// The names of links in messages. Expected values: captures/route-replies.txt.
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#include <string>

#include "check.h"
#include "messages.h"
#include "rtnetlink/codec.h"

namespace {

using knp::netlink::FailureKind;
using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::rtnetlink::Link;
using knp::test::Capture;
using knp::test::MessagesOf;

}  // namespace

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
  CHECK(knp::rtnetlink::DecodeLinkIndexes(MessagesOf(bytes)[0], &indexes).kind ==
        FailureKind::kMalformedReply);
}

TEST(TheLinksInTheSettingsOfKindsAreFound) {
  std::vector<uint8_t> bytes;
  MessageBuilder builder(&bytes);
  builder.Begin(RTM_NEWLINK, 0, 0);
  builder.PutHeader(ifinfomsg{});
  builder.PutU32(IFLA_MASTER, 2);
  const size_t info = builder.BeginNested(IFLA_LINKINFO);
  builder.PutString(IFLA_INFO_KIND, "bond");
  const size_t data = builder.BeginNested(IFLA_INFO_DATA);
  builder.PutU32(IFLA_BOND_ACTIVE_SLAVE, 3);
  builder.PutU32(IFLA_BOND_MIIMON, 100);
  builder.PutU32(IFLA_BOND_PRIMARY, 4);
  builder.EndNested(data);
  builder.PutString(IFLA_INFO_SLAVE_KIND, "bridge");
  const size_t port = builder.BeginNested(IFLA_INFO_SLAVE_DATA);
  builder.PutU32(IFLA_BRPORT_BACKUP_PORT, 5);
  builder.EndNested(port);
  builder.EndNested(info);
  CHECK(builder.End());
  std::vector<int32_t> indexes;
  CHECK(knp::rtnetlink::DecodeLinkIndexes(MessagesOf(bytes)[0], &indexes).ok());
  CHECK(indexes == (std::vector<int32_t>{2, 3, 4, 5}));
  // The length of the last attribute.
  bytes[bytes.size() - 8] = 7;
  CHECK(knp::rtnetlink::DecodeLinkIndexes(MessagesOf(bytes)[0], &indexes).kind ==
        FailureKind::kMalformedReply);
}

TEST(TheLinkOfAnAddressIsFound) {
  std::vector<uint8_t> bytes = Capture("route-addresses4.reply");
  std::vector<int32_t> indexes;
  for (const Message& message : MessagesOf(bytes)) {
    CHECK(knp::rtnetlink::DecodeLinkIndexes(message, &indexes).ok());
  }
  CHECK(indexes == (std::vector<int32_t>{1, 1, 3, 4, 4}));
  Message message = MessagesOf(bytes)[0];
  message.size = sizeof(ifaddrmsg) - 1;
  CHECK(knp::rtnetlink::DecodeLinkIndexes(message, &indexes).kind == FailureKind::kMalformedReply);
}

TEST(TheKernelListsLinks) {
  // One datagram of the listing: the count identifies its links.
  std::vector<Link> links;
  const std::vector<uint8_t> bytes = Capture("route-links.reply");
  for (const Message& message : MessagesOf(bytes)) CHECK(DecodeLink(message, &links.emplace_back()).ok());
  std::vector<std::string> names;
  for (const Link& link : links) names.push_back(std::to_string(link.index) + " " + link.name);
  CHECK(names == (std::vector<std::string>{"1 lo", "2 nlmon0", "3 knp0", "4 kube-ipvs0"}));
}
