#pragma once

#include <napi.h>

namespace knp::binding {

// Adds what the addon offers for rtnetlink to `exports`.
void InitRtnetlink(Napi::Env env, Napi::Object exports);

}  // namespace knp::binding
