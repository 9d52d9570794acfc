// The changes that notifications report.
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>

#include "check.h"
#include "rtnetlink/watch.h"

namespace {

using knp::rtnetlink::Append;
using knp::rtnetlink::Changes;
using knp::rtnetlink::Event;
using knp::rtnetlink::EventKind;
using knp::rtnetlink::kAddressesChanged;
using knp::rtnetlink::kChangesLost;
using knp::rtnetlink::kLinksChanged;
using knp::rtnetlink::LinkNames;

// Notifications have the layout of the kernel's replies to a listing, which these captures are.
constexpr const char* kLinks = "route-links.reply";
constexpr const char* kAddresses = "route-addresses4.reply";

Changes Read(const std::vector<uint8_t>& bytes, LinkNames* names) {
  Changes changes;
  ReadNotifications(bytes.data(), bytes.size(), names, &changes);
  return changes;
}

Changes Read(const std::vector<uint8_t>& bytes) {
  LinkNames names;
  return Read(bytes, &names);
}

// The first message of a capture, as a notification of this type.
std::vector<uint8_t> OfType(const char* capture, uint16_t type) {
  std::vector<uint8_t> bytes = knp::test::Capture(capture);
  nlmsghdr header{};
  std::memcpy(&header, bytes.data(), sizeof(header));
  bytes.resize(header.nlmsg_len);
  bytes[offsetof(nlmsghdr, nlmsg_type)] = static_cast<uint8_t>(type);
  return bytes;
}

std::vector<uint8_t> operator+(std::vector<uint8_t> first, const std::vector<uint8_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST(NotificationsReportLinksAndAddresses) {
  LinkNames names;
  Changes changes = Read(OfType(kLinks, RTM_NEWLINK), &names);
  CHECK_EQUAL(changes.kinds, kLinksChanged);
  CHECK_EQUAL(changes.events.size(), 1);
  CHECK(!changes.events[0].deleted);
  CHECK_EQUAL(changes.events[0].link.name, "lo");
  CHECK_EQUAL(names.at(changes.events[0].link.index), "lo");
  changes = Read(OfType(kAddresses, RTM_DELADDR), &names);
  CHECK_EQUAL(changes.kinds, kAddressesChanged);
  CHECK_EQUAL(changes.events.size(), 1);
  CHECK(changes.events[0].deleted);
  CHECK_EQUAL(changes.events[0].address.link, "lo");
  CHECK_EQUAL(changes.events[0].address.address.bytes[0], 127);
  changes = Read(OfType(kLinks, RTM_DELLINK), &names);
  CHECK(changes.events[0].deleted);
  CHECK(names.empty());
  CHECK_EQUAL(Read(OfType(kLinks, RTM_NEWROUTE)).kinds, 0);
  CHECK_EQUAL(Read(OfType(kLinks, NLMSG_OVERRUN)).kinds, kChangesLost);
  CHECK_EQUAL(Read({}).kinds, 0);
}

TEST(SeveralNotificationsReportAllInOrder) {
  const Changes changes = Read(OfType(kLinks, RTM_NEWLINK) + OfType(kAddresses, RTM_NEWADDR));
  CHECK_EQUAL(changes.kinds, kLinksChanged | kAddressesChanged);
  CHECK_EQUAL(changes.events.size(), 2);
  CHECK(changes.events[0].kind == EventKind::kLink);
  CHECK(changes.events[1].kind == EventKind::kAddress);
}

TEST(AnAddressOfALinkWithoutANameIsLost) {
  const Changes changes = Read(OfType(kAddresses, RTM_NEWADDR));
  CHECK_EQUAL(changes.kinds, kAddressesChanged | kChangesLost);
  CHECK(changes.events.empty());
}

TEST(ALinkThatIsRenamedLosesItsAddresses) {
  LinkNames names;
  Changes changes = Read(OfType(kLinks, RTM_NEWLINK), &names);
  const int32_t index = changes.events[0].link.index;
  names[index] = "old";
  changes = Read(OfType(kLinks, RTM_NEWLINK), &names);
  CHECK_EQUAL(changes.kinds, kLinksChanged | kChangesLost);
  CHECK_EQUAL(names.at(index), "lo");
}

// br_ifinfo_notify(): the link has left a bridge, and is there.
TEST(ABridgeThatLosesAPortDeletesNoLink) {
  LinkNames names;
  std::vector<uint8_t> bytes = OfType(kLinks, RTM_DELLINK);
  bytes[sizeof(nlmsghdr)] = AF_BRIDGE;
  const Changes changes = Read(bytes, &names);
  CHECK_EQUAL(changes.kinds, kLinksChanged);
  CHECK(changes.events.empty());
}

TEST(MoreEventsThanAreKeptAreLost) {
  Changes changes;
  Changes later;
  later.kinds = kLinksChanged;
  later.events.resize(Changes::kMostEvents);
  Append(&changes, later);
  CHECK_EQUAL(changes.events.size(), Changes::kMostEvents);
  later.events.resize(1);
  Append(&changes, later);
  CHECK_EQUAL(changes.kinds, kLinksChanged | kChangesLost);
  CHECK(changes.events.empty());
  Append(&changes, later);
  CHECK(changes.events.empty());
}

TEST(MalformedNotificationsMayReportAnything) {
  std::vector<uint8_t> bytes = OfType(kLinks, RTM_NEWLINK);
  bytes.resize(bytes.size() - 4);
  CHECK_EQUAL(Read(bytes).kinds, kChangesLost);
  bytes = OfType(kLinks, RTM_NEWLINK);
  bytes.push_back(1);
  CHECK_EQUAL(Read(bytes).kinds, kLinksChanged | kChangesLost);
  bytes = OfType(kLinks, RTM_NEWLINK);
  bytes[0] = 15;  // nlmsg_len, shorter than nlmsghdr
  bytes[1] = 0;
  CHECK_EQUAL(Read(bytes).kinds, kChangesLost);
}

TEST(AWatchThatIsNotOpenDoesNotStart) {
  knp::rtnetlink::Watch watch;
  CHECK(!watch.Start(std::chrono::milliseconds(0), [](const Changes&) {}).ok());
  watch.Stop();
  CHECK(watch.Open("/nonexistent", std::chrono::seconds(5)).is_errno(ENOENT));
  CHECK(watch.Open("", std::chrono::seconds(5)).ok());
  CHECK(watch.Start(std::chrono::milliseconds(0), [](const Changes&) {}).ok());
  CHECK(!watch.Start(std::chrono::milliseconds(0), [](const Changes&) {}).ok());
  watch.Stop();
  watch.Stop();
}
