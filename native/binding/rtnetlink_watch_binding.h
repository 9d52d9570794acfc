#pragma once

#include <napi.h>

namespace knp::binding {

// Adds what the addon offers for watching links and addresses to `exports`.
void InitRtnetlinkWatch(Napi::Env env, Napi::Object exports);

}  // namespace knp::binding
