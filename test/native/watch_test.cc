// Notifications: how they are gathered, kept and lost, and the thread that reads them.
#include "netlink/watch.h"

#include <linux/rtnetlink.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "check.h"
#include "fake_kernel.h"

namespace {

using knp::netlink::Message;
using knp::netlink::Notifications;
using knp::netlink::Watch;
using knp::test::Built;
using std::chrono::milliseconds;

const auto kAnswerNothing = [](const Message&, Notifications*) {};

// One byte of record for each message: its type.
void ReadType(const Message& message, Notifications* out) {
  out->records.push_back(static_cast<uint8_t>(message.type));
}

Notifications Read(const std::vector<uint8_t>& bytes) {
  Notifications notifications;
  ReadNotifications(bytes.data(), bytes.size(), ReadType, &notifications);
  return notifications;
}

Notifications OfBytes(size_t count) {
  return Notifications{std::vector<uint8_t>(count), false};
}

std::vector<uint8_t> Joined(std::vector<uint8_t> first, const std::vector<uint8_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST(NotificationsOfADatagramAreReadInOrder) {
  const Notifications read = Read(Joined(Built(100, 0, 0), Built(101, 0, 0)));
  CHECK(!read.lost);
  CHECK_EQUAL(read.records, (std::vector<uint8_t>{100, 101}));
  CHECK(Read({}).empty());
}

TEST(AnErrorInsteadOfANotificationIsALoss) {
  for (const uint16_t type : {NLMSG_ERROR, NLMSG_OVERRUN}) {
    const Notifications read = Read(Joined(Built(100, 0, 0), Built(type, 0, 0)));
    CHECK(read.lost);
    CHECK(read.records.empty());
  }
}

TEST(AMalformedDatagramIsALoss) {
  std::vector<uint8_t> cut = Joined(Built(100, 0, 0), Built(101, 0, 0));
  cut.resize(cut.size() - 4);
  CHECK(Read(cut).lost);
  std::vector<uint8_t> longer = Built(100, 0, 0);
  longer.push_back(1);
  CHECK(Read(longer).lost);
  std::vector<uint8_t> shorter = Built(100, 0, 0);
  shorter[0] = 15;  // nlmsg_len, shorter than nlmsghdr
  CHECK(Read(shorter).lost);
}

TEST(NotificationsBeyondTheBoundAreLost) {
  Notifications kept;
  Append(&kept, OfBytes(Notifications::kMostBytes));
  CHECK_EQUAL(kept.records.size(), Notifications::kMostBytes);
  Append(&kept, OfBytes(1));
  CHECK(kept.lost);
  CHECK_EQUAL(kept.records.capacity(), 0);
  Append(&kept, OfBytes(1));
  CHECK(kept.records.empty());
}

TEST(AWatchNeedsGroupsThatExist) {
  Watch watch;
  CHECK(watch.Join({"/nonexistent", NETLINK_ROUTE, {RTNLGRP_LINK}}, kAnswerNothing).is_errno(ENOENT));
  CHECK(!watch.Join({"", NETLINK_ROUTE, {100000}}, kAnswerNothing).ok());
  CHECK(!watch.Join({"", -1, {}}, kAnswerNothing).ok());
  CHECK(!watch.Start(milliseconds(0), [] {}).ok());
  CHECK(watch.Take().empty());
  watch.Stop();
}

// Opens, starts, takes and stops from several threads: ThreadSanitizer reads along.
TEST(AWatchIsTakenFromWhileItReadsAndEnds) {
  for (int round = 0; round < 20; round++) {
    Watch watch;
    std::atomic<int> calls{0};
    CHECK(watch.Join({"", NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_NEIGH}}, ReadType).ok());
    CHECK(watch.Start(milliseconds(0), [&] { calls++; }).ok());
    CHECK(!watch.Start(milliseconds(0), [] {}).ok());
    CHECK(!watch.Join({"", NETLINK_ROUTE, {}}, kAnswerNothing).ok());
    std::thread taker([&] {
      for (int i = 0; i < 50; i++) static_cast<void>(watch.Take());
    });
    for (int i = 0; i < 50; i++) static_cast<void>(watch.Take());
    taker.join();
    watch.Stop();
    watch.Stop();
    CHECK(calls.load() <= 101);
  }
}
