// Quick calls: which they are, and how many are waited for in one turn of the event loop.
#include "binding/loop_time.h"

#include <vector>

#include "binding/quick.h"
#include "check.h"

namespace {

using knp::binding::AreQuick;
using knp::binding::LoopTime;

constexpr uint64_t kMicrosecond = 1000;
constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kTurn = 5'000'000'000;

}  // namespace

TEST(CallsOfATurnEndWithItsTime) {
  LoopTime loop;
  CHECK(!loop.HasWaited(kTurn));
  uint64_t now = kTurn;
  size_t calls = 0;
  for (; loop.MayWait(kTurn) && calls < 10'000; calls++) {
    now += 5 * kMicrosecond;
    loop.Waited(kTurn, now);
    CHECK(loop.HasWaited(kTurn));
  }
  CHECK_EQUAL(calls, 400);   // 2 ms
  CHECK(loop.MayWait(now));  // the next turn
  CHECK(!loop.HasWaited(now));
}

TEST(ALongTurnOfJavaScriptDoesNotHinderTheNextTurn) {
  LoopTime loop;
  for (uint64_t turn = kTurn; turn < kTurn + 10'000 * kMillisecond; turn += 100 * kMillisecond) {
    CHECK(loop.MayWait(turn));
    loop.Waited(turn, turn + 50 * kMillisecond);
    CHECK(!loop.MayWait(turn));
  }
}

TEST(OnlyOperationsOfAFewMicrosecondsAreQuick) {
  using knp::ipvs::Verb;
  std::vector<knp::ipvs::Operation> operations(2);
  operations[0].verb = operations[1].verb = Verb::kAddRealServer;
  CHECK(AreQuick(operations));
  for (const Verb verb : {Verb::kAddService, Verb::kUpdateService, Verb::kDeleteService, Verb::kFlush,
                          Verb::kZero, Verb::kStartDaemon, Verb::kStopDaemon}) {
    operations[1].verb = verb;
    CHECK(!AreQuick(operations));
  }
  std::vector<knp::rtnetlink::Encoded> changes(1);
  changes[0].type = RTM_DELADDR;
  CHECK(AreQuick(changes));
  changes[0].type = RTM_DELLINK;
  CHECK(!AreQuick(changes));
  std::vector<knp::ipset::Operation> sets(1);
  sets[0].verb = knp::ipset::Verb::kAdd;
  CHECK(AreQuick(sets));
  sets[0].verb = knp::ipset::Verb::kSwap;
  CHECK(!AreQuick(sets));
}
