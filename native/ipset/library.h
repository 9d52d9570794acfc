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
  kSwap = 6,
  kAdd = 9,
  kDelete = 10,
};

// enum ipset_envopt: IPSET_ENV_EXIST.
constexpr int kEnvironmentExist = 1 << 3;

// ipset_print_outfn.
using PrintFunction = int (*)(LibrarySession*, void*, const char* format, ...);

// The functions that are used, named as in libipset less `ipset_`. Its enums are passed as int.
struct LibraryFunctions {
  void (*load_types)();
  LibrarySession* (*session_init)(PrintFunction, void*);
  int (*session_fini)(LibrarySession*);
  LibraryData* (*session_data)(const LibrarySession*);
  const char* (*session_report_msg)(const LibrarySession*);
  void (*session_report_reset)(LibrarySession*);
  void (*envopt_set)(LibrarySession*, int option);
  void (*envopt_unset)(LibrarySession*, int option);
  int (*data_set)(LibraryData*, int option, const void* value);
  const void* (*data_get)(const LibraryData*, int option);
  void (*data_reset)(LibraryData*);
  size_t (*data_sizeof)(int option, uint8_t family);
  const LibraryType* (*type_get)(LibrarySession*, int command);
  int (*cmd)(LibrarySession*, int command, uint32_t line);
  int (*commit)(LibrarySession*);
  int (*errcode)(LibrarySession*, int command, int error);
};

// enum ipset_opt. The library grew an option in the middle (IPSET_OPT_BITMASK, 7.16) without changing its
// name: the options after it have other numbers in earlier versions.
struct LibraryOptions {
  int set_name = 1;
  int type_name = 2;
  int family = 3;
  int ip = 4;
  int cidr = 6;
  int port = 8;  // host order
  int port_to = 9;
  int hash_size = 12;
  int max_elements = 13;
  int ip2 = 27;
  int cidr2 = 28;
  int protocol = 30;
  int set_name2 = 32;
  int type = 52;
};

struct Library {
  LibraryFunctions call{};
  LibraryOptions option;
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
