// Calls that run on JavaScript's thread, because a trip to libuv's pool costs more than they do.
#pragma once

#include <napi.h>

#include <cstdint>

#include "binding/loop_time.h"

namespace knp::binding {

// Whether such a call may run now, on the thread of this environment.
bool MayRunHere(napi_env env);

// The loop time of this thread, and the clock that it uses.
LoopTime* LoopTimeHere();
uint64_t ClockNow();
// When the event loop began its current turn, in ns; 0 if that is not known.
uint64_t TurnBegin(napi_env env);

// Runs `call` and records the time that it took. Returns its result.
template <typename Call>
bool RunHere(napi_env env, const Call& call) {
  LoopTime* loop = LoopTimeHere();
  const uint64_t turn = TurnBegin(env);
  const uint64_t began = loop->NeedsBegin(turn) ? ClockNow() : 0;
  const bool result = call();
  loop->Ran(turn, began, ClockNow());
  return result;
}

}  // namespace knp::binding
