#include "binding/here.h"

#include <uv.h>

namespace knp::binding {

constexpr uint64_t kNanosecondsPerMillisecond = 1'000'000;

// Each environment has a thread of its own.
LoopTime* LoopTimeHere() {
  thread_local LoopTime loop_time;
  return &loop_time;
}

uint64_t ClockNow() {
  return uv_hrtime();
}

uint64_t TurnBegin(napi_env env) {
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok) return 0;
  return uv_now(loop) * kNanosecondsPerMillisecond;
}

bool MayRunHere(napi_env env) {
  return LoopTimeHere()->MayRun(TurnBegin(env));
}

}  // namespace knp::binding
