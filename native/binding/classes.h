// The classes of the addon. Each function adds those of a family to the exports.
#pragma once

#include <napi.h>

namespace knp::binding {

void InitIpset(Napi::Object exports);
void InitIpvs(Napi::Object exports);
void InitNetlink(Napi::Object exports);
void InitProcess(Napi::Object exports);
void InitRtnetlink(Napi::Object exports);

}  // namespace knp::binding
