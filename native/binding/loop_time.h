// Decides whether JavaScript's thread may wait for a quick call, so that many such calls, one after another,
// do not keep the event loop from its other work. docs/decisions/0038-a-thread-for-quick-calls.md has the
// reasons.
#pragma once

#include <algorithm>
#include <cstdint>

namespace knp::binding {

// One for each event loop. All times are of one monotonic clock, in ns. `turn` is the time at which the loop
// began the callbacks that run now (uv_now).
class LoopTime {
 public:
  // The time that one turn of the loop may take until its calls are no longer waited for.
  static constexpr uint64_t kLongestTurn = 2'000'000;

  bool MayWait(uint64_t turn) const { return turn != turn_ || last_ - turn < kLongestTurn; }

  // Whether a call has been waited for in this turn.
  bool HasWaited(uint64_t turn) const { return turn == turn_; }

  // Records a call that has been waited for until then.
  void Waited(uint64_t turn, uint64_t ended) {
    turn_ = turn;
    last_ = std::max(turn, ended);
  }

 private:
  uint64_t turn_ = 0;  // in which a call was waited for last
  uint64_t last_ = 0;  // end of that call
};

}  // namespace knp::binding
