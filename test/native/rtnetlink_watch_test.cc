// The changes that notifications report.
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>

#include "check.h"
#include "rtnetlink/layouts.h"
#include "rtnetlink/watch.h"

namespace {

using knp::netlink::Notifications;
using knp::rtnetlink::EventKind;
using knp::rtnetlink::LinkNames;
using Event = knp::rtnetlink::layout::Event;
using LinkField = knp::rtnetlink::layout::Link;
using AddressField = knp::rtnetlink::layout::Address;

// Notifications have the layout of the kernel's replies to a listing, which these captures are.
constexpr const char* kLinks = "route-links.reply";
constexpr const char* kAddresses = "route-addresses4.reply";

Notifications Read(const std::vector<uint8_t>& bytes, LinkNames* names) {
  Notifications notifications;
  ReadNotifications(
      bytes.data(), bytes.size(),
      [&](const knp::netlink::Message& message, Notifications* out) {
        knp::rtnetlink::ReadNotification(message, names, out);
      },
      &notifications);
  return notifications;
}

size_t Count(const Notifications& notifications) {
  CHECK_EQUAL(notifications.records.size() % Event::kSize, 0);
  return notifications.records.size() / Event::kSize;
}

const uint8_t* Record(const Notifications& notifications, size_t place = 0) {
  return notifications.records.data() + place * Event::kSize;
}

EventKind Kind(const Notifications& notifications, size_t place = 0) {
  return static_cast<EventKind>(Load(Record(notifications, place), Event::kKind));
}

bool Deleted(const Notifications& notifications) {
  return Load(Record(notifications), Event::kDeleted) == 1;
}

const uint8_t* Changed(const Notifications& notifications) {
  return Load(Record(notifications), Event::kChanged);
}

Notifications Read(const std::vector<uint8_t>& bytes) {
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
  Notifications read = Read(OfType(kLinks, RTM_NEWLINK), &names);
  CHECK_EQUAL(Count(read), 1);
  CHECK(Kind(read) == EventKind::kLink);
  CHECK(!Deleted(read));
  CHECK_EQUAL(Load(Changed(read), LinkField::kName), "lo");
  CHECK_EQUAL(names.at(static_cast<int32_t>(Load(Changed(read), LinkField::kIndex))), "lo");
  read = Read(OfType(kAddresses, RTM_DELADDR), &names);
  CHECK_EQUAL(Count(read), 1);
  CHECK(Kind(read) == EventKind::kAddress);
  CHECK(Deleted(read));
  CHECK_EQUAL(Load(Changed(read), AddressField::kLink), "lo");
  CHECK_EQUAL(Load(Changed(read), AddressField::kAddress)[0], 127);
  read = Read(OfType(kLinks, RTM_DELLINK), &names);
  CHECK(Deleted(read));
  CHECK(names.empty());
  CHECK(Read(OfType(kLinks, RTM_NEWROUTE)).empty());
}

TEST(SeveralNotificationsReportAllInOrder) {
  const Notifications read = Read(OfType(kLinks, RTM_NEWLINK) + OfType(kAddresses, RTM_NEWADDR));
  CHECK(!read.lost);
  CHECK_EQUAL(Count(read), 2);
  CHECK(Kind(read, 0) == EventKind::kLink);
  CHECK(Kind(read, 1) == EventKind::kAddress);
}

TEST(AnAddressOfALinkWithoutANameIsLost) {
  const Notifications read = Read(OfType(kAddresses, RTM_NEWADDR));
  CHECK(read.lost);
  CHECK(read.records.empty());
}

TEST(ALinkThatIsRenamedLosesItsAddresses) {
  LinkNames names;
  Notifications read = Read(OfType(kLinks, RTM_NEWLINK), &names);
  CHECK(!read.lost);
  const int32_t index = names.begin()->first;
  names[index] = "old";
  read = Read(OfType(kLinks, RTM_NEWLINK), &names);
  CHECK(read.lost);
  CHECK_EQUAL(names.at(index), "lo");
}

// br_ifinfo_notify(): the link has left a bridge, and is there.
TEST(ABridgeThatLosesAPortDeletesNoLink) {
  LinkNames names;
  std::vector<uint8_t> bytes = OfType(kLinks, RTM_DELLINK);
  bytes[sizeof(nlmsghdr)] = AF_BRIDGE;
  CHECK(Read(bytes, &names).empty());
}

TEST(ALinkThatCannotBeReadIsLost) {
  std::vector<uint8_t> bytes = OfType(kLinks, RTM_NEWLINK);
  bytes[sizeof(nlmsghdr) + sizeof(ifinfomsg)] = 1;  // nla_len of the first attribute
  bytes[sizeof(nlmsghdr) + sizeof(ifinfomsg) + 1] = 0;
  CHECK(Read(bytes).lost);
}

TEST(AWatchThatIsNotOpenDoesNotStart) {
  knp::rtnetlink::Watch watch;
  CHECK(!watch.Start(std::chrono::milliseconds(0), [] {}).ok());
  watch.Stop();
  CHECK(watch.Open("/nonexistent", std::chrono::seconds(5)).is_errno(ENOENT));
  CHECK(watch.Open("", std::chrono::seconds(5)).ok());
  CHECK(watch.Start(std::chrono::milliseconds(0), [] {}).ok());
  CHECK(!watch.Start(std::chrono::milliseconds(0), [] {}).ok());
  watch.Stop();
  watch.Stop();
}
