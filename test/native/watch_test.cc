// Notifications: how they are gathered, kept and lost, and the thread that reads them.
#include "netlink/watch.h"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "check.h"
#include "fake_kernel.h"
#include "opening.h"

namespace {

using knp::netlink::Message;
using knp::netlink::Notifications;
using knp::netlink::Watch;
using knp::test::Built;
using knp::test::Here;
using std::chrono::milliseconds;

const auto kAnswerNothing = [](const Message&, Notifications*) {};

// One byte of record for each message: its type.
void ReadType(const Message& message, Notifications* out) {
  out->records.push_back(static_cast<uint8_t>(message.type));
}

Notifications Read(const std::vector<uint8_t>& bytes) {
  return ReadNotifications(bytes.data(), bytes.size(), ReadType);
}

Notifications OfBytes(size_t count) {
  Notifications notifications;
  notifications.records.resize(count);
  notifications.count = count;
  return notifications;
}

constexpr size_t kMost = 1000;

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
    const Notifications read =
        Read(Joined(Joined(Built(100, 0, 0), Built(type, 0, 0)), Joined(Built(101, 0, 0), Built(102, 0, 0))));
    CHECK(read.lost);
    CHECK_EQUAL(read.records, (std::vector<uint8_t>{100}));  // that before the loss
    CHECK_EQUAL(read.count, 1);
    CHECK_EQUAL(read.dropped, 2);
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

TEST(NotificationsBeyondTheBoundAreLostAndCounted) {
  Notifications kept;
  Append(&kept, OfBytes(kMost), kMost);
  CHECK(!kept.lost);
  Append(&kept, OfBytes(3), kMost);
  CHECK(kept.lost);
  CHECK_EQUAL(kept.records.size(), kMost);
  CHECK_EQUAL(kept.dropped, 3);
}

// A reader that counts needs those before a loss; those after it would seem to be complete.
TEST(ALossKeepsWhatIsBeforeItAndDropsWhatIsAfterIt) {
  Notifications kept = OfBytes(2);
  Notifications loss = OfBytes(4);
  loss.lost = true;
  loss.dropped = 10;
  Append(&kept, std::move(loss), kMost);
  Append(&kept, OfBytes(8), kMost);
  CHECK(kept.lost);
  CHECK_EQUAL(kept.records.size(), 6);
  CHECK_EQUAL(kept.count, 6);
  CHECK_EQUAL(kept.dropped, 18);
}

// A link with many alternative names, whose description is longer than the buffer.
TEST(ANotificationLongerThanTheBufferIsLostAndTheNextOneIsRead) {
  int ends[2] = {-1, -1};
  CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  const knp::netlink::Descriptor kernel(ends[1]);
  std::vector<uint8_t> longer = Built(101, 0, 0);
  longer.resize(100000);
  const auto size = static_cast<uint32_t>(longer.size());
  std::memcpy(longer.data(), &size, sizeof(size));  // nlmsg_len
  const auto send_all = [&](const std::vector<uint8_t>& bytes) {
    CHECK(send(kernel.get(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  };
  Watch watch;
  std::atomic<int> losses{0};
  std::atomic<int> calls{0};
  const auto take = [&] {
    for (int i = 0; i < 5000 && calls.load() == 0; i++) std::this_thread::sleep_for(milliseconds(1));
    calls = 0;
    return watch.Take();
  };
  CHECK(watch.Adopt(knp::netlink::Descriptor(ends[0]), ReadType, [&] { losses++; }).ok());
  send_all(Built(100, 0, 0));
  send_all(longer);
  send_all(Built(102, 0, 0));
  // Those that are sent before the start are reported together.
  CHECK(watch.Start(milliseconds(0), [&] { calls++; }).ok());
  const Notifications first = take();
  CHECK(first.lost);
  CHECK_EQUAL(first.records, (std::vector<uint8_t>{100}));
  CHECK_EQUAL(first.dropped, 2);
  CHECK_EQUAL(losses.load(), 1);
  send_all(longer);
  const Notifications second = take();
  CHECK(!second.lost);
  CHECK_EQUAL(second.records, (std::vector<uint8_t>{101}));
  watch.Stop();
}

TEST(AWatchReportsTheReceiveBufferThatItWasGranted) {
  Watch watch;
  watch.SetReceiveBuffer(8192);
  CHECK(watch.Join({Here(), NETLINK_ROUTE, {RTNLGRP_LINK}}, kAnswerNothing).ok());
  CHECK_EQUAL(watch.receive_buffer(), 8192);
}

TEST(AWatchNeedsGroupsThatExist) {
  Watch watch;
  CHECK(!watch.Join({Here(), NETLINK_ROUTE, {100000}}, kAnswerNothing).ok());
  CHECK(!watch.Join({Here(), -1, {}}, kAnswerNothing).ok());
  CHECK(!watch.Start(milliseconds(0), [] {}).ok());
  CHECK(watch.Take().empty());
  watch.Stop();
}

// Opens, starts, takes and stops from several threads: ThreadSanitizer reads along.
TEST(AWatchIsTakenFromWhileItReadsAndEnds) {
  for (int round = 0; round < 20; round++) {
    Watch watch;
    std::atomic<int> calls{0};
    CHECK(watch.Join({Here(), NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_NEIGH}}, ReadType).ok());
    CHECK(watch.Start(milliseconds(0), [&] { calls++; }).ok());
    CHECK(!watch.Start(milliseconds(0), [] {}).ok());
    CHECK(!watch.Join({Here(), NETLINK_ROUTE, {}}, kAnswerNothing).ok());
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
