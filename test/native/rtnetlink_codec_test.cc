// Requests of ip → structs → the same bytes; answers of the kernel → structs. Expected values:
// captures/route-replies.txt.
#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "check.h"
#include "messages.h"
#include "rtnetlink/codec.h"

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
  CHECK(add ? EncodeAddAddress(&builder, NLM_F_ACK, address)
            : EncodeDeleteAddress(&builder, NLM_F_ACK, address));
  CHECK_EQUAL(WithSenderOf(ours, bytes), bytes);
  return address;
}

Link LinkRoundTrip(const std::string& name, bool add) {
  const std::vector<uint8_t> bytes = Capture(name);
  Link link;
  CHECK(DecodeLink(MessagesOf(bytes)[0], &link).ok());
  std::vector<uint8_t> ours;
  MessageBuilder builder(&ours);
  CHECK(add ? EncodeAddLink(&builder, NLM_F_ACK, link) : EncodeDeleteLink(&builder, NLM_F_ACK, link));
  CHECK_EQUAL(WithSenderOf(ours, bytes), bytes);
  return link;
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

TEST(IpAddsAndDeletesALink) {
  const Link added = LinkRoundTrip("route-add-link-dummy.request", true);
  CHECK_EQUAL(added.name, "kube-ipvs0");
  CHECK_EQUAL(added.kind, "dummy");
  CHECK(LinkRoundTrip("route-delete-link.request", false).index > 0);  // ip looks the index up
}

TEST(ALinkIsDeletedByNameWhereItsIndexIsUnknown) {
  std::vector<uint8_t> ours;
  MessageBuilder builder(&ours);
  Link link;
  link.name = "kube-ipvs0";
  CHECK(EncodeDeleteLink(&builder, 0, link));
  Link read;
  CHECK(DecodeLink(MessagesOf(ours)[0], &read).ok());
  CHECK_EQUAL(read.name, "kube-ipvs0");
  CHECK_EQUAL(read.index, 0);
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
