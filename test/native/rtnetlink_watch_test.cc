// What notifications tell of.
#include <linux/rtnetlink.h>

#include "check.h"
#include "rtnetlink/watch.h"

namespace {

using knp::rtnetlink::kAddressesChanged;
using knp::rtnetlink::kChangesLost;
using knp::rtnetlink::kLinksChanged;
using knp::rtnetlink::ReadNotifications;

uint8_t Changes(const std::vector<uint8_t>& bytes) {
  return ReadNotifications(bytes.data(), bytes.size());
}

std::vector<uint8_t> OfType(uint16_t type) {
  std::vector<uint8_t> bytes = knp::test::Capture("route-add-address.request");
  bytes[offsetof(nlmsghdr, nlmsg_type)] = static_cast<uint8_t>(type);
  return bytes;
}

}  // namespace

TEST(NotificationsTellOfLinksAndAddresses) {
  CHECK_EQUAL(Changes(OfType(RTM_NEWLINK)), kLinksChanged);
  CHECK_EQUAL(Changes(OfType(RTM_DELLINK)), kLinksChanged);
  CHECK_EQUAL(Changes(OfType(RTM_NEWADDR)), kAddressesChanged);
  CHECK_EQUAL(Changes(OfType(RTM_DELADDR)), kAddressesChanged);
  CHECK_EQUAL(Changes(OfType(RTM_NEWROUTE)), 0);
  CHECK_EQUAL(Changes(OfType(NLMSG_OVERRUN)), kChangesLost);
  CHECK_EQUAL(Changes({}), 0);
}

TEST(SeveralNotificationsTellOfAll) {
  std::vector<uint8_t> bytes = OfType(RTM_NEWLINK);
  const std::vector<uint8_t> address = OfType(RTM_DELADDR);
  bytes.insert(bytes.end(), address.begin(), address.end());
  CHECK_EQUAL(Changes(bytes), kLinksChanged | kAddressesChanged);
}

TEST(MalformedNotificationsMayTellOfAnything) {
  std::vector<uint8_t> bytes = OfType(RTM_NEWLINK);
  bytes.resize(bytes.size() - 4);
  CHECK_EQUAL(Changes(bytes), kChangesLost);
  bytes = OfType(RTM_NEWLINK);
  bytes.push_back(1);
  CHECK_EQUAL(Changes(bytes), kLinksChanged | kChangesLost);
  bytes = OfType(RTM_NEWLINK);
  bytes[0] = 15;  // nlmsg_len, shorter than nlmsghdr
  CHECK_EQUAL(Changes(bytes), kChangesLost);
}

TEST(AWatchThatIsNotOpenDoesNotStart) {
  knp::rtnetlink::Watch watch;
  CHECK(!watch.Start(std::chrono::milliseconds(0), [](uint8_t) {}).ok());
  watch.Stop();
  CHECK(watch.Open("/nonexistent").is_errno(ENOENT));
  CHECK(watch.Open("").ok());
  CHECK(watch.Start(std::chrono::milliseconds(0), [](uint8_t) {}).ok());
  CHECK(!watch.Start(std::chrono::milliseconds(0), [](uint8_t) {}).ok());
  watch.Stop();
  watch.Stop();
}
