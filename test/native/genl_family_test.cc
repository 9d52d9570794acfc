// Ids of generic netlink families: against a fake kernel and the real one.
#include <linux/genetlink.h>
#include <linux/netlink.h>

#include <cerrno>

#include "check.h"
#include "fake_kernel.h"
#include "genl/family.h"
#include "ipvs/codec.h"
#include "netlink/exchange.h"

namespace {

using knp::netlink::Message;
using knp::netlink::MessageBuilder;
using knp::netlink::Socket;
using knp::netlink::SocketOptions;
using knp::netlink::Status;
using knp::test::Acknowledged;
using knp::test::FakeKernel;

}  // namespace

TEST(AFamilyThatCannotBeLookedUpLeavesTheIdAsItWas) {
  uint16_t id = knp::genl::kNoFamily;
  for (const int32_t error : {-ENOENT, 0}) {  // 0: acknowledged, but no family in the reply
    FakeKernel kernel([&](const std::vector<Message>& request) -> std::vector<std::vector<uint8_t>> {
      return {Acknowledged(NLMSG_ERROR, 0, request[0].sequence, error)};
    });
    CHECK(!knp::genl::LookUpFamily(&kernel.socket, "IPVS", &id).ok());
    CHECK_EQUAL(id, knp::genl::kNoFamily);
  }
}

TEST(TheKernelRefusesTheIdThatNoFamilyHas) {
  SocketOptions options;
  options.protocol = NETLINK_GENERIC;
  Socket socket;
  CHECK(Socket::Open(options, &socket).ok());
  const auto encode = [](MessageBuilder* builder) {
    return knp::ipvs::EncodeGetInfo(builder, knp::genl::kNoFamily);
  };
  CHECK(Query(&socket, encode, [](const Message&) { return Status{}; }).is_errno(ENOENT));
  uint16_t id = 0;
  CHECK(knp::genl::LookUpFamily(&socket, "nlctrl", &id).ok());
  CHECK_EQUAL(id, GENL_ID_CTRL);
}
