#include "binding/here.h"

#include <dlfcn.h>
#include <time.h>

struct uv_loop_s;

namespace knp::binding {

constexpr uint64_t kNanosecondsPerMillisecond = 1'000'000;
constexpr uint64_t kNanosecondsPerSecond = 1'000'000'000;

namespace {

using LoopNow = uint64_t (*)(const uv_loop_s* loop);

// uv_now() of the program, which Node offers beside N-API. A program without it has no quick calls: the
// binary needs no symbol but those of N-API.
LoopNow FindLoopNow() {
  static const auto found = reinterpret_cast<LoopNow>(dlsym(RTLD_DEFAULT, "uv_now"));
  return found;
}

}  // namespace

// Each environment has a thread of its own.
LoopTime* LoopTimeHere() {
  thread_local LoopTime loop_time;
  return &loop_time;
}

uint64_t ClockNow() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);  // the clock of uv_now()
  return static_cast<uint64_t>(now.tv_sec) * kNanosecondsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

uint64_t TurnBegin(napi_env env) {
  uv_loop_s* loop = nullptr;
  const LoopNow now = FindLoopNow();
  if (now == nullptr || napi_get_uv_event_loop(env, &loop) != napi_ok) return 0;
  return now(loop) * kNanosecondsPerMillisecond;
}

bool MayRunHere(napi_env env) {
  const uint64_t turn = TurnBegin(env);
  return turn != 0 && LoopTimeHere()->MayRun(turn);
}

}  // namespace knp::binding
