// The classes of the addon. Each function adds one to the exports.
#pragma once

#include <napi.h>

namespace knp::binding {

void InitConntrack(Napi::Object exports);
void InitIpset(Napi::Object exports);
void InitIpvs(Napi::Object exports);
void InitRtnetlink(Napi::Object exports);
void InitRtnetlinkWatch(Napi::Object exports);

}  // namespace knp::binding
