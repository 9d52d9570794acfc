// Registers the addon. It has no global state: every environment (main thread, worker thread) that loads the
// addon gets classes of its own, and all that they hold ends with the environment.
#include <dlfcn.h>
#include <napi.h>

#include "binding/classes.h"

namespace {

// Keeps the library loaded after the last worker thread that has loaded it. Node.js would unload it then, but
// the process still calls its handlers at exit: that of children, and, in the published binaries, the
// destructors of static objects, which Zig registers for the process.
void StayLoaded() {
  Dl_info library{};
  if (dladdr(reinterpret_cast<void*>(&StayLoaded), &library) == 0) return;
  static_cast<void>(dlopen(library.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

Napi::Object Init(Napi::Env /*env*/, Napi::Object exports) {
  StayLoaded();
  knp::binding::InitIpset(exports);
  knp::binding::InitIpvs(exports);
  knp::binding::InitNetlink(exports);
  knp::binding::InitProcess(exports);
  knp::binding::InitRtnetlink(exports);
  return exports;
}

}  // namespace

NODE_API_MODULE(NODE_GYP_MODULE_NAME, Init)
