// Registers the addon. Nothing here or below is global: every environment (main thread, worker thread) that
// loads the addon gets classes of its own, and whatever they hold ends with the environment.
#include <napi.h>

#include "binding/conntrack_binding.h"
#include "binding/ipset_binding.h"
#include "binding/ipvs_binding.h"
#include "binding/rtnetlink_binding.h"
#include "binding/rtnetlink_watch_binding.h"

namespace {

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  knp::binding::InitIpvs(env, exports);
  knp::binding::InitRtnetlink(env, exports);
  knp::binding::InitRtnetlinkWatch(env, exports);
  knp::binding::InitIpset(env, exports);
  knp::binding::InitConntrack(env, exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(NODE_GYP_MODULE_NAME, Init)
