// libipset, loaded when a set is first written. The declarations are our own: neither its headers nor the
// library are needed to build or to load the addon.
// test/native/ipset_library_test.cc compares every number and signature with libipset's headers.
//
// libipset keeps state for the whole process (types, and which set has which) that no session guards: every
// caller holds LibraryMutex(), in every thread of every environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

#include "netlink/status.h"

namespace knp::ipset {

constexpr const char* kLibraryName = "libipset.so.13";

// Opaque to us: struct ipset_session, struct ipset_data.
struct LibrarySession;
struct LibraryData;

// The beginning of struct ipset_type, which is all that is read of it.
struct LibraryType {
  const char* name;
  uint8_t revision;
  uint8_t family;
};

// enum ipset_cmd; those below 16 are the kernel's.
enum class Command : int {
  kCreate = 2,
  kDestroy = 3,
  kFlush = 4,
  kRename = 5,
  kSwap = 6,
  kAdd = 9,
  kDelete = 10,
  kTest = 11,
};

// enum ipset_envopt: IPSET_ENV_EXIST.
constexpr int kEnvironmentExist = 1 << 3;

// enum ipset_err_type: IPSET_NOTICE, the answer to a test of an entry that is not in the set.
constexpr int kReportNotice = 2;

// ipset_print_outfn.
using PrintFunction = int (*)(LibrarySession*, void*, const char* format, ...);

// The functions that are used, named as in libipset less `ipset_`. Its enums are passed as int.
struct LibraryFunctions {
  void (*load_types)();
  LibrarySession* (*session_init)(PrintFunction, void*);
  int (*session_fini)(LibrarySession*);
  LibraryData* (*session_data)(const LibrarySession*);
  const char* (*session_report_msg)(const LibrarySession*);
  int (*session_report_type)(const LibrarySession*);
  void (*session_report_reset)(LibrarySession*);
  void (*envopt_set)(LibrarySession*, int option);
  void (*envopt_unset)(LibrarySession*, int option);
  int (*data_set)(LibraryData*, int option, const void* value);
  const void* (*data_get)(const LibraryData*, int option);
  void (*data_reset)(LibraryData*);
  size_t (*data_sizeof)(int option, uint8_t family);
  const LibraryType* (*type_get)(LibrarySession*, int command);
  // Forgets the type of one set, or of all without a name.
  int (*cache_del)(const char* name);
  int (*cmd)(LibrarySession*, int command, uint32_t line);
  int (*commit)(LibrarySession*);
  int (*errcode)(LibrarySession*, int command, int error);
};

// enum ipset_opt; 0 for an option that the library does not have. The library grew an option in the middle
// (IPSET_OPT_BITMASK, 7.16) without changing its name: the options after it have other numbers in earlier
// versions.
struct LibraryOptions {
  int set_name = 1;
  int type_name = 2;
  int family = 3;
  int ip = 4;
  int ip_to = 5;
  int cidr = 6;
  int mark = 7;
  int port = 8;  // host order
  int port_to = 9;
  int timeout = 10;
  int hash_size = 12;
  int max_elements = 13;
  int mark_mask = 14;
  int netmask = 15;
  int size = 18;
  int bitmask = 20;  // 0 before 7.16
  int ether = 24;
  int name = 25;
  int name_ref = 26;
  int ip2 = 27;
  int cidr2 = 28;
  int ip2_to = 29;
  int protocol = 30;
  int iface = 31;
  int set_name2 = 32;
  int packets = 38;
  int bytes = 39;
  int entry_comment = 41;
  int skb_mark = 43;
  int skb_prio = 44;
  int skb_queue = 45;
  int bucket_size = 47;  // 0 before 7.10
  int initval = 48;      // the same
  int cadt_flags = 50;
  int type = 52;
};

struct Library {
  LibraryFunctions call{};
  LibraryOptions option;
  std::string path;  // of its file, without symbolic links; empty when it is unknown
};

// Determines the numbers of the options from the sizes of their values, which the library returns. False when
// no known numbering fits.
bool FindOptions(size_t (*data_sizeof)(int option, uint8_t family), LibraryOptions* out);

// Guards everything in libipset.
std::mutex& LibraryMutex();

// The library, loaded by the first call that succeeds and kept until the process ends. kLibrary when it is
// missing or not as we know it; a later call tries again.
netlink::Status LoadLibrary(const Library** out);

}  // namespace knp::ipset
