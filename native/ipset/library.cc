#include "ipset/library.h"

#include <dlfcn.h>
#include <sys/socket.h>

#include <string>

namespace knp::ipset {
namespace {

using netlink::Fault;
using netlink::Status;

// Sizes by which IPSET_OPT_ETHER, and with it the numbering, is recognised.
constexpr int kEtherSince716 = 24;
constexpr size_t kEtherSize = 6;
constexpr size_t kNameSize = 32;

Status LastError() {
  const char* reason = dlerror();
  return Status::Of(Fault::kLibrary, reason == nullptr ? kLibraryName : reason);
}

template <typename Function>
bool Resolve(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  return *out != nullptr;
}

Status ResolveAll(void* library, LibraryFunctions* out) {
  const bool complete =
      Resolve(library, "ipset_load_types", &out->load_types) &&
      Resolve(library, "ipset_session_init", &out->session_init) &&
      Resolve(library, "ipset_session_fini", &out->session_fini) &&
      Resolve(library, "ipset_session_data", &out->session_data) &&
      Resolve(library, "ipset_session_report_msg", &out->session_report_msg) &&
      Resolve(library, "ipset_session_report_reset", &out->session_report_reset) &&
      Resolve(library, "ipset_envopt_set", &out->envopt_set) &&
      Resolve(library, "ipset_envopt_unset", &out->envopt_unset) &&
      Resolve(library, "ipset_data_set", &out->data_set) &&
      Resolve(library, "ipset_data_get", &out->data_get) &&
      Resolve(library, "ipset_data_reset", &out->data_reset) &&
      Resolve(library, "ipset_data_sizeof", &out->data_sizeof) &&
      Resolve(library, "ipset_type_get", &out->type_get) && Resolve(library, "ipset_cmd", &out->cmd) &&
      Resolve(library, "ipset_commit", &out->commit) && Resolve(library, "ipset_errcode", &out->errcode);
  return complete ? Status{} : LastError();
}

}  // namespace

bool FindOptions(size_t (*data_sizeof)(int option, uint8_t family), LibraryOptions* out) {
  LibraryOptions options;
  int shift = 0;
  if (data_sizeof(kEtherSince716, AF_INET) != kEtherSize) shift = -1;
  if (data_sizeof(kEtherSince716 + shift, AF_INET) != kEtherSize) return false;
  for (int* option : {&options.ip2, &options.cidr2, &options.protocol, &options.set_name2, &options.type}) {
    *option += shift;
  }
  // IPSET_OPT_SETNAME2 and IPSET_OPT_TYPE, like a few others, have no size there; the rest must fit.
  const auto is = [data_sizeof](int option, size_t size) { return data_sizeof(option, AF_INET6) == size; };
  if (!is(options.set_name, kNameSize) || !is(options.ip, 16) || !is(options.cidr, 1) ||
      !is(options.port, 2) || !is(options.port_to, 2) || !is(options.hash_size, 4) ||
      !is(options.max_elements, 4) || !is(options.ip2, 16) || !is(options.cidr2, 1) ||
      !is(options.protocol, 1)) {
    return false;
  }
  *out = options;
  return true;
}

std::mutex& LibraryMutex() {
  static std::mutex mutex;
  return mutex;
}

Status LoadLibrary(const Library** out) {
  static Library library;
  static bool loaded = false;
  *out = &library;
  if (loaded) return {};
  // Never closed: the library has no function that frees its types.
  void* handle = dlopen(kLibraryName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return LastError();
  Status status = ResolveAll(handle, &library.call);
  if (!status.ok()) return status;
  if (!FindOptions(library.call.data_sizeof, &library.option)) {
    return Status::Of(Fault::kLibrary, std::string(kLibraryName) + " numbers its options in an unknown way");
  }
  library.call.load_types();
  loaded = true;
  return {};
}

}  // namespace knp::ipset
