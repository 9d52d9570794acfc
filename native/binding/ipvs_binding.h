#pragma once

#include <napi.h>

namespace knp::binding {

// Adds what the addon offers for ipvs to `exports`.
void InitIpvs(Napi::Env env, Napi::Object exports);

}  // namespace knp::binding
