#include "ipset/library.h"

#include <dlfcn.h>
#include <sys/socket.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <string>

namespace knp::ipset {
namespace {

using netlink::FailureKind;
using netlink::Status;

// Sizes by which IPSET_OPT_ETHER, and with it the numbering, is recognised.
constexpr int kEtherSince716 = 24;
constexpr size_t kEtherSize = 6;
constexpr size_t kNameSize = 32;

Status LastError() {
  const char* reason = dlerror();
  return Status::Of(FailureKind::kLibrary, reason == nullptr ? kLibraryName : reason);
}

template <typename Function>
bool Resolve(void* library, const char* name, Function* out) {
  *out = reinterpret_cast<Function>(dlsym(library, name));
  return *out != nullptr;
}

// The file that has this function, without symbolic links: its name has the version (libipset.so.13.4.0).
std::string FileOf(void* function) {
  Dl_info info{};
  std::array<char, PATH_MAX> path{};
  if (dladdr(function, &info) == 0 || realpath(info.dli_fname, path.data()) == nullptr) return {};
  return path.data();
}

Status ResolveAll(void* library, LibraryFunctions* out) {
  const bool complete =
      Resolve(library, "ipset_load_types", &out->load_types) &&
      Resolve(library, "ipset_session_init", &out->session_init) &&
      Resolve(library, "ipset_session_fini", &out->session_fini) &&
      Resolve(library, "ipset_session_data", &out->session_data) &&
      Resolve(library, "ipset_session_report_msg", &out->session_report_msg) &&
      Resolve(library, "ipset_session_report_type", &out->session_report_type) &&
      Resolve(library, "ipset_session_report_reset", &out->session_report_reset) &&
      Resolve(library, "ipset_envopt_set", &out->envopt_set) &&
      Resolve(library, "ipset_envopt_unset", &out->envopt_unset) &&
      Resolve(library, "ipset_data_set", &out->data_set) &&
      Resolve(library, "ipset_data_get", &out->data_get) &&
      Resolve(library, "ipset_data_reset", &out->data_reset) &&
      Resolve(library, "ipset_data_sizeof", &out->data_sizeof) &&
      Resolve(library, "ipset_type_get", &out->type_get) &&
      Resolve(library, "ipset_cache_del", &out->cache_del) && Resolve(library, "ipset_cmd", &out->cmd) &&
      Resolve(library, "ipset_commit", &out->commit) && Resolve(library, "ipset_errcode", &out->errcode);
  return complete ? Status{} : LastError();
}

}  // namespace

bool FindOptions(size_t (*data_sizeof)(int option, uint8_t family), LibraryOptions* out) {
  LibraryOptions options;
  if (data_sizeof(kEtherSince716, AF_INET) != kEtherSize) {
    options.bitmask = 0;
    for (int* option :
         {&options.ether, &options.name, &options.name_ref, &options.ip2, &options.cidr2, &options.ip2_to,
          &options.protocol, &options.iface, &options.set_name2, &options.packets, &options.bytes,
          &options.entry_comment, &options.skb_mark, &options.skb_prio, &options.skb_queue,
          &options.bucket_size, &options.initval, &options.cadt_flags, &options.type}) {
      *option -= 1;
    }
  }
  // A few options, as IPSET_OPT_SETNAME2, IPSET_OPT_IFACE and IPSET_OPT_TYPE, have no size there; the rest
  // must fit.
  struct Expected {
    int option;
    size_t size;
  };
  const Expected expected[] = {
      {options.set_name, kNameSize},
      {options.ip, 16},
      {options.ip_to, 16},
      {options.cidr, 1},
      {options.mark, 4},
      {options.port, 2},
      {options.port_to, 2},
      {options.timeout, 4},
      {options.hash_size, 4},
      {options.max_elements, 4},
      {options.mark_mask, 4},
      {options.netmask, 1},
      {options.size, 4},
      {options.ether, kEtherSize},
      {options.name, kNameSize},
      {options.name_ref, kNameSize},
      {options.ip2, 16},
      {options.cidr2, 1},
      {options.ip2_to, 16},
      {options.protocol, 1},
      {options.packets, 8},
      {options.bytes, 8},
      {options.entry_comment, 256},
      {options.skb_mark, 8},
      {options.skb_prio, 4},
      {options.skb_queue, 2},
  };
  for (const Expected& one : expected) {
    if (data_sizeof(one.option, AF_INET6) != one.size) return false;
  }
  // Newer than the library's name.
  if (data_sizeof(options.bucket_size, AF_INET6) != 1) options.bucket_size = 0;
  if (data_sizeof(options.initval, AF_INET6) != 4) options.initval = 0;
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
    return Status::Of(FailureKind::kLibrary,
                      std::string(kLibraryName) + " numbers its options in an unknown way");
  }
  library.call.load_types();
  library.path = FileOf(reinterpret_cast<void*>(library.call.load_types));
  loaded = true;
  return {};
}

}  // namespace knp::ipset
