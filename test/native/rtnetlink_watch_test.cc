// The changes that notifications report.
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cstring>
#include <string>

#include "check.h"
#include "netlink/message_builder.h"
#include "opening.h"
#include "rtnetlink/layouts.h"
#include "rtnetlink/watch.h"

namespace {

using knp::netlink::Notifications;
using knp::rtnetlink::EventKind;
using knp::rtnetlink::LinkNames;
using Event = knp::rtnetlink::layout::Event;

// Notifications have the layout of the kernel's replies to a listing, which these captures are.
constexpr const char* kLinks = "route-links.reply";
constexpr const char* kAddresses = "route-addresses4.reply";

const knp::rtnetlink::EventKinds kAll{EventKind::kLink, EventKind::kAddress,   EventKind::kRoute,
                                      EventKind::kRule, EventKind::kNeighbour, EventKind::kForwardingEntry};

const knp::rtnetlink::NameLookup kNoLinks = [](int32_t, std::string*) { return false; };

Notifications Read(const std::vector<uint8_t>& bytes, LinkNames* names,
                   const knp::rtnetlink::EventKinds& wanted = kAll,
                   const knp::rtnetlink::NameLookup& look_up = kNoLinks) {
  return knp::netlink::ReadNotifications(
      bytes.data(), bytes.size(), [&](const knp::netlink::Message& message, Notifications* out) {
        knp::rtnetlink::ReadNotification(message, wanted, look_up, names, out);
      });
}

// The event records.
std::vector<const uint8_t*> Records(const Notifications& notifications) {
  std::vector<const uint8_t*> records;
  for (size_t at = 0; at < notifications.records.size();) {
    const uint8_t* record = notifications.records.data() + at;
    records.push_back(record);
    at += Event::kSize + Load(record, Event::kLength) +
          Load(record, Event::kNameCount) * knp::rtnetlink::layout::LinkName::kSize;
  }
  return records;
}

size_t Count(const Notifications& notifications) {
  return Records(notifications).size();
}

const uint8_t* Record(const Notifications& notifications, size_t place = 0) {
  return Records(notifications).at(place);
}

EventKind Kind(const Notifications& notifications, size_t place = 0) {
  return static_cast<EventKind>(Load(Record(notifications, place), Event::kKind));
}

bool Deleted(const Notifications& notifications) {
  return Load(Record(notifications), Event::kDeleted) == 1;
}

const uint8_t* Changed(const Notifications& notifications) {
  return Record(notifications) + Event::kSize;
}

// "1 lo": the only link that the message refers to.
std::string Named(const Notifications& notifications) {
  using Name = knp::rtnetlink::layout::LinkName;
  CHECK_EQUAL(Load(Record(notifications), Event::kNameCount), 1);
  const uint8_t* name = Changed(notifications) + Load(Record(notifications), Event::kLength);
  return std::to_string(Load(name, Name::kIndex)) + " " + Load(name, Name::kName);
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
  CHECK_EQUAL(names.at(1), "lo");
  CHECK(std::memcmp(Changed(read), OfType(kLinks, RTM_NEWLINK).data() + 0, 4) == 0);  // the message itself
  read = Read(OfType(kAddresses, RTM_DELADDR), &names);
  CHECK_EQUAL(Count(read), 1);
  CHECK(Kind(read) == EventKind::kAddress);
  CHECK(Deleted(read));
  CHECK_EQUAL(Named(read), "1 lo");
  CHECK(std::memcmp(Changed(read), OfType(kAddresses, RTM_DELADDR).data(), 4) == 0);
  read = Read(OfType(kLinks, RTM_DELLINK), &names);
  CHECK(Deleted(read));
  CHECK(names.empty());
  CHECK(Read(OfType(kLinks, RTM_NEWQDISC)).empty());
}

TEST(SeveralNotificationsReportAllInOrder) {
  const Notifications read = Read(OfType(kLinks, RTM_NEWLINK) + OfType(kAddresses, RTM_NEWADDR));
  CHECK(!read.lost);
  CHECK_EQUAL(Count(read), 2);
  CHECK(Kind(read, 0) == EventKind::kLink);
  CHECK(Kind(read, 1) == EventKind::kAddress);
}

TEST(LinksThatAreNotWantedAreReadForTheirNames) {
  LinkNames names;
  CHECK(Read(OfType(kLinks, RTM_NEWLINK), &names, {EventKind::kNeighbour}).empty());
  CHECK_EQUAL(names.at(1), "lo");
  std::vector<uint8_t> bytes;
  knp::netlink::MessageBuilder builder(&bytes);
  builder.Begin(RTM_NEWNEIGH, 0, 0);
  ndmsg header{};
  header.ndm_ifindex = 1;
  builder.PutHeader(header);
  CHECK(builder.End());
  const Notifications read = Read(bytes, &names, {EventKind::kNeighbour});
  CHECK_EQUAL(Count(read), 1);
  CHECK(Kind(read) == EventKind::kNeighbour);
  CHECK_EQUAL(Named(read), "1 lo");
}

TEST(EntriesOfForwardingDatabasesAreAKindOfTheirOwn) {
  LinkNames names{{1, "lo"}, {2, "eth0"}};
  std::vector<uint8_t> bytes;
  knp::netlink::MessageBuilder builder(&bytes);
  builder.Begin(RTM_DELNEIGH, 0, 0);
  ndmsg header{};
  header.ndm_family = AF_BRIDGE;
  header.ndm_ifindex = 1;
  builder.PutHeader(header);
  builder.PutU32(NDA_IFINDEX, 2);
  CHECK(builder.End());
  const Notifications read = Read(bytes, &names, {EventKind::kForwardingEntry});
  CHECK_EQUAL(Count(read), 1);
  CHECK(Kind(read) == EventKind::kForwardingEntry);
  CHECK(Deleted(read));
  CHECK(Read(bytes, &names, {EventKind::kNeighbour}).empty());
  header.ndm_family = AF_INET;
  std::vector<uint8_t> neighbour;
  knp::netlink::MessageBuilder other(&neighbour);
  other.Begin(RTM_NEWNEIGH, 0, 0);
  other.PutHeader(header);
  CHECK(other.End());
  CHECK(Read(neighbour, &names, {EventKind::kForwardingEntry}).empty());
}

TEST(AnAddressOfALinkWithoutANameIsLost) {
  Notifications read = Read(OfType(kAddresses, RTM_NEWADDR));
  CHECK(read.lost);
  CHECK(read.records.empty());
  std::vector<uint8_t> cut = OfType(kAddresses, RTM_NEWADDR);
  cut.resize(sizeof(nlmsghdr) + 4);
  cut[0] = static_cast<uint8_t>(cut.size());
  read = Read(cut);
  CHECK(read.lost);
  CHECK(read.records.empty());
}

// The notification of the link was lost.
TEST(TheNameOfALinkThatIsNotKnownIsLookedUpOnce) {
  int lookups = 0;
  const auto look_up = [&](int32_t index, std::string* name) {
    ++lookups;
    *name = index == 1 ? "lo" : "";
    return index == 1;
  };
  LinkNames names;
  for (int i = 0; i < 2; ++i) {
    const Notifications read = Read(OfType(kAddresses, RTM_NEWADDR), &names, kAll, look_up);
    CHECK(!read.lost);
    CHECK_EQUAL(Count(read), 1);
    CHECK_EQUAL(Named(read), "1 lo");
  }
  CHECK_EQUAL(lookups, 1);
  CHECK_EQUAL(names.at(1), "lo");

  std::vector<uint8_t> bytes;
  knp::netlink::MessageBuilder builder(&bytes);
  builder.Begin(RTM_NEWNEIGH, 0, 0);
  ndmsg header{};
  header.ndm_ifindex = 1;
  builder.PutHeader(header);
  CHECK(builder.End());
  names.clear();
  const Notifications read = Read(bytes, &names, kAll, look_up);
  CHECK_EQUAL(Load(Record(read), Event::kNameCount), 1);
  CHECK_EQUAL(lookups, 2);
}

TEST(ALinkThatIsRenamedLosesItsAddresses) {
  LinkNames names;
  Notifications read = Read(OfType(kLinks, RTM_NEWLINK), &names);
  CHECK(!read.lost);
  const int32_t index = names.begin()->first;
  names[index] = "old";
  read = Read(OfType(kLinks, RTM_NEWLINK), &names);
  CHECK(read.lost);
  CHECK(read.records.empty());
  CHECK_EQUAL(read.dropped, 0);
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
  CHECK(knp::test::OpenAt("/nonexistent", &watch).is_errno(ENOENT));
  CHECK(knp::test::OpenAt("", &watch).ok());
  CHECK(watch.Start(std::chrono::milliseconds(0), [] {}).ok());
  CHECK(!watch.Start(std::chrono::milliseconds(0), [] {}).ok());
  watch.Stop();
  watch.Stop();
}
